import { serveStdio } from 'portico/stdio'
import { benchServer } from './surface.mjs'

serveStdio(benchServer())
