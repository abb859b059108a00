import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'

export const server = new McpServer({ name: 'restaurant', version: '1.0.0' })
const other = { type: 'object' as const, properties: { other: { type: 'boolean' as const } }, required: ['other'] }

server.registerTool('book', { inputSchema: { day: z.string() } }, async ({ day }) => {
  const answer = await server.server.elicitInput({ message: `No table on ${day}. Another day?`, requestedSchema: other })
  if (answer.action !== 'accept') return { content: [{ type: 'text', text: 'cancelled' }] }
  const said = await server.server.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: 'Another day for a table' } }],
    maxTokens: 100,
  })
  const { roots } = await server.server.listRoots()
  return { content: [{ type: 'text', text: `${said.model} ${roots.length}` }] }
})

export const connected = (): boolean => server.isConnected()
