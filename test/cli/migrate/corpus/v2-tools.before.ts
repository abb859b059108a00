import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod/v4'

export const server = new McpServer({ name: 'notes', version: '2.0.0' })

const notes = new Map([['milk', 'Two litres']])

server.registerTool(
  'note',
  { title: 'Note', description: 'Reads a note', inputSchema: z.object({ name: z.string() }), outputSchema: z.object({ text: z.string() }) },
  async ({ name }) => {
    const text = notes.get(name)
    if (text === undefined) throw new Error(`There is no note ${name}`)
    return { content: [{ type: 'text', text }], structuredContent: { text } }
  },
)

server.registerResource('note', new ResourceTemplate('note://{name}', { list: undefined }), {}, async (uri, { name }) => ({
  contents: [{ uri: uri.href, text: notes.get(String(name)) ?? '' }],
}))

server.registerPrompt('summary', { argsSchema: z.object({ name: z.string() }) }, async ({ name }) => ({
  messages: [{ role: 'user', content: { type: 'text', text: `Summarise ${name}` } }],
}))

export async function main(): Promise<void> {
  await server.connect(new StdioServerTransport())
}
