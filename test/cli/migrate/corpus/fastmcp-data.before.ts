import { FastMCP } from 'fastmcp'
import { z } from 'zod'

export const server = new FastMCP({ name: 'Data', version: '1.2.3', instructions: 'Read the log first.' })

server.addResource({
  uri: 'file:///logs/app.log',
  name: 'Log',
  mimeType: 'text/plain',
  load: async () => ({ text: 'Nothing happened' }),
})

server.addResourceTemplate({
  uriTemplate: 'user://{id}',
  name: 'User',
  mimeType: 'text/plain',
  arguments: [{ name: 'id', description: 'The number of the user', required: true }],
  async load({ id }) {
    return { text: `User ${id}` }
  },
})

server.addPrompt({
  name: 'commit',
  description: 'Writes a commit message',
  arguments: [{ name: 'changes', description: 'What changed', required: true }, { name: 'tone' }],
  load: async ({ changes }) => `Write a commit message for ${changes}`,
})

server.addTool({ name: 'size', parameters: z.object({ id: z.string() }), execute: async ({ id }) => String(id.length) })

export const main = async () => {
  await server.start({ transportType: 'httpStream', httpStream: { port: 8080, endpoint: '/mcp' } })
}
