import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

const server = new McpServer({ name: 'web', version: '1.0.0' })
server.registerTool('who', { description: 'The caller' }, async (extra) => ({
  content: [{ type: 'text', text: extra.authInfo?.clientId ?? 'nobody' }],
}))

export async function main(): Promise<void> {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() })
  await server.connect(transport as Parameters<typeof server.connect>[0])
  server.sendToolListChanged()
  createServer((request, response) => void transport.handleRequest(request, response)).listen(3000)
}
