/** Serves the weather over stdio. WEATHER=live asks a service on the network; the default is sample data. */

import { serveStdio } from 'portico/stdio'
import { openMeteo, sampleSource } from './source.ts'
import { weatherServer } from './weather.ts'

serveStdio(weatherServer(process.env.WEATHER === 'live' ? openMeteo() : sampleSource))
