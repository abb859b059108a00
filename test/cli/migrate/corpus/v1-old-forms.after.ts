import { createServer } from 'portico/server'
import { z } from 'zod'

export const server = createServer({ name: 'old', version: '0.1.0' })

const shape = { city: z.string().describe('The name of the city') }

server.tool('ping', async () => ({ content: [{ type: 'text', text: 'pong' }] }))
server.tool('weather', { description: 'Weather of a city', input: z.object(shape) }, async ({ city }) => ({ content: [{ type: 'text', text: `Sun in ${city}` }] }))
server.tool('clear', { description: 'Clears everything', input: z.object({ all: z.boolean().optional() }), annotations: { destructiveHint: true } }, async ({ all }) => ({
  content: [{ type: 'text', text: all ? 'all' : 'some' }],
}))
server.prompt('greet', { input: z.object({ name: z.string() }) }, ({ name }) => ({
  messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
}))
server.resource('motd://today', { name: 'motd' }, async () => ({ contents: [{ uri: 'motd://today', text: 'Be kind' }] }))
