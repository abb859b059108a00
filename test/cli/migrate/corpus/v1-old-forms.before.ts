import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'

export const server = new McpServer({ name: 'old', version: '0.1.0' })

const shape = { city: z.string().describe('The name of the city') }

server.tool('ping', async () => ({ content: [{ type: 'text', text: 'pong' }] }))
server.tool('weather', 'Weather of a city', shape, async ({ city }) => ({ content: [{ type: 'text', text: `Sun in ${city}` }] }))
server.tool('clear', 'Clears everything', { all: z.boolean().optional() }, { destructiveHint: true }, async ({ all }) => ({
  content: [{ type: 'text', text: all ? 'all' : 'some' }],
}))
server.prompt('greet', { name: z.string() }, ({ name }) => ({
  messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
}))
server.resource('motd', 'motd://today', async (uri) => ({ contents: [{ uri: uri.href, text: 'Be kind' }] }))
