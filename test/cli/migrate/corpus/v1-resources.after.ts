import { createServer } from 'portico/server'
import { z } from 'zod'

export const server = createServer({ name: 'library', version: '1.0.0' })

const books: Record<string, string> = { '1': 'Moby Dick' }

server.resource(
  'library://catalog', { name: 'catalog', title: 'Catalog', description: 'All books', mimeType: 'application/json' },
  async () => ({ contents: [{ uri: 'library://catalog', mimeType: 'application/json', text: JSON.stringify(books) }] }),
)

server.resource('book://{id}', { name: 'book', mimeType: 'text/plain' }, async ({ id }) => books[String(id)] ?? 'unknown')

server.prompt(
  'review',
  { title: 'Review', description: 'Reviews a book', input: z.object({ title: z.string() }) },
  ({ title }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Review ${title}` } }] }),
)

server.tool('count', { description: 'Counts the books' }, async () => ({
  content: [{ type: 'text', text: String(Object.keys(books).length) }],
}))
