import '../../heap.mjs'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { big, bytes, isSse, say, toolCount } from '../../arguments.mjs'
import { benchServer } from './offering.mjs'

const adding = z.object({ a: z.number(), b: z.number() })
const sum = z.object({ sum: z.number() })

function fullServer() {
  const server = benchServer(toolCount)
  server.registerTool('add', { inputSchema: adding, outputSchema: sum }, async ({ a, b }) => ({
    content: [{ type: 'text', text: `{"sum":${a + b}}` }],
    structuredContent: { sum: a + b },
  }))
  server.registerTool('big', {}, async () => ({ content: [{ type: 'text', text: big }] }))
  server.registerTool('progress', {}, async ({ mcpReq }) => {
    for (let progress = 1; progress <= 1000; progress++) {
      const params = { progressToken: mcpReq._meta.progressToken, progress, total: 1000 }
      await mcpReq.notify({ method: 'notifications/progress', params })
    }
    return { content: [] }
  })
  server.registerResource('blob', 'bench://blob', {}, async () => ({
    contents: [{ uri: 'bench://blob', blob: bytes.toString('base64') }],
  }))
  return server
}

const stateless = toNodeHandler(createMcpHandler(fullServer, { responseMode: isSse ? 'sse' : 'json' }))
const transports = new Map()
const http = createServer(async (request, response) => {
  if (request.headers['mcp-method'] !== undefined) return stateless(request, response)
  const known = transports.get(request.headers['mcp-session-id'])
  if (known) return known.handleRequest(request, response)
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: !isSse,
    onsessioninitialized: (id) => transports.set(id, transport),
  })
  await fullServer().connect(transport)
  return transport.handleRequest(request, response)
})
http.keepAliveTimeout = 65_000
http.listen(0, '127.0.0.1', () => say(http.address().port))
