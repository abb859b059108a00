import '../../heap.mjs'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'
import { big, bytes, isSse, say, toolCount } from '../../arguments.mjs'
import { benchServer } from './offering.mjs'

function fullServer() {
  const server = benchServer(toolCount)
  server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } }, async ({ a, b }) => ({
    content: [{ type: 'text', text: `{"sum":${a + b}}` }],
    structuredContent: { sum: a + b },
  }))
  server.registerTool('big', {}, async () => ({ content: [{ type: 'text', text: big }] }))
  server.registerTool('progress', {}, async ({ _meta, sendNotification }) => {
    for (let progress = 1; progress <= 1000; progress++) {
      const params = { progressToken: _meta.progressToken, progress, total: 1000 }
      await sendNotification({ method: 'notifications/progress', params })
    }
    return { content: [] }
  })
  server.registerResource('blob', 'bench://blob', {}, async () => ({
    contents: [{ uri: 'bench://blob', blob: bytes.toString('base64') }],
  }))
  return server
}

const transports = new Map()
const http = createServer(async (request, response) => {
  const known = transports.get(request.headers['mcp-session-id'])
  if (known) return known.handleRequest(request, response)
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: !isSse,
    onsessioninitialized: (id) => transports.set(id, transport),
  })
  await fullServer().connect(transport)
  return transport.handleRequest(request, response)
})
http.keepAliveTimeout = 65_000
http.listen(0, '127.0.0.1', () => say(http.address().port))
