import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { benchServer } from './surface.mjs'

await benchServer().connect(new StdioServerTransport())
