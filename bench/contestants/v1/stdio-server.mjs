import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { benchServer } from './offering.mjs'

await benchServer().connect(new StdioServerTransport())
