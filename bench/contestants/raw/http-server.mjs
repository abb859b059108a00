/** A minimal server, as the lower limit: JSON in and out with node:http, without checks. `--sse` answers with an event. */

import '../../heap.mjs'
import { createServer } from 'node:http'
import { big, bytes, isSse, say, toolCount } from '../../arguments.mjs'
import { namesOf } from '../../offering.mjs'

const tools = namesOf(toolCount).map((name) => ({
  name,
  description: `The tool ${name}`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}))

function resultOf(method, params) {
  switch (method) {
    case 'tools/call':
      if (params.name === 'add') {
        const sum = params.arguments.a + params.arguments.b
        return { content: [{ type: 'text', text: `{"sum":${sum}}` }], structuredContent: { sum } }
      }
      return { content: [{ type: 'text', text: params.name === 'big' ? big : params.arguments.text }] }
    case 'tools/list':
      return { tools }
    case 'resources/read':
      return { contents: [{ uri: params.uri, blob: bytes.toString('base64') }] }
    default:
      return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } }
  }
}

const server = createServer((request, response) => {
  if (request.method === 'DELETE') return response.writeHead(204).end()
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.write(':\n\n')
  }
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  return request.on('end', () => {
    const { id, method, params } = JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
    if (id === undefined) return response.writeHead(202).end()
    if (method === 'subscriptions/listen') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return response.write('data: {}\n\n')
    }
    if (params?.name === 'progress') return progress(response, id)
    const json = JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params) })
    if (isSse && method !== 'initialize') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return response.end(`event: message\ndata: ${json}\n\n`)
    }
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json), 'mcp-session-id': 's' })
    return response.end(json)
  })
})

function progress(response, id) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let i = 1; i <= 1000; i++) {
    const params = { progressToken: id, progress: i, total: 1000 }
    response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`)
  }
  response.end(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })}\n\n`)
}

server.keepAliveTimeout = 65_000
server.listen(0, '127.0.0.1', () => say(server.address().port))
