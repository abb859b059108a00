import { serveStdio } from 'portico/stdio'
import { benchServer } from './offering.mjs'

serveStdio(benchServer())
