import { createServer } from 'portico/server'
import { serveStdio } from 'portico/stdio'

const server = createServer({ name: 'portico', version: '1' })
server.tool('echo', { input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } }, ({ text }) => text)
serveStdio(server)
