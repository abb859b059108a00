import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { benchServer } from './offering.mjs'

serveStdio(benchServer)
