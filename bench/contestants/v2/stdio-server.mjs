import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { benchServer } from './surface.mjs'

serveStdio(benchServer)
