import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'

export const server = new McpServer({ name: 'library', version: '1.0.0' })

const books: Record<string, string> = { '1': 'Moby Dick' }

server.registerResource(
  'catalog',
  'library://catalog',
  { title: 'Catalog', description: 'All books', mimeType: 'application/json' },
  async (uri) => ({ contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(books) }] }),
)

server.registerResource('book', new ResourceTemplate('book://{id}', { list: undefined }), { mimeType: 'text/plain' }, async (uri, { id }) => ({
  contents: [{ uri: uri.href, mimeType: 'text/plain', text: books[String(id)] ?? 'unknown' }],
}))

server.registerPrompt(
  'review',
  { title: 'Review', description: 'Reviews a book', argsSchema: { title: z.string() } },
  ({ title }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Review ${title}` } }] }),
)

server.registerTool('count', { description: 'Counts the books' }, async () => ({
  content: [{ type: 'text', text: String(Object.keys(books).length) }],
}))
