import { listen } from 'portico/http'
import { createServer } from 'portico/server'
import { z } from 'zod'

export const server = createServer({ name: 'Data', version: '1.2.3', instructions: 'Read the log first.' })

server.resource('file:///logs/app.log', {
  name: 'Log',
  mimeType: 'text/plain',
}, async () => 'Nothing happened')

server.resource('user://{id}', {
  name: 'User',
  mimeType: 'text/plain',
}, async function ({ id }) {
    return `User ${id}`
  })

server.prompt('commit', {
  description: 'Writes a commit message',
  input: z.object({ changes: z.string().describe('What changed'), tone: z.string().optional() }),
}, async ({ changes }) => `Write a commit message for ${changes}`)

server.tool('size', { input: z.object({ id: z.string() }) }, async ({ id }) => String(id.length))

export const main = async () => {
  await listen(server, { port: 8080, path: '/mcp' })
}
