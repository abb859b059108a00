import { createServer, ToolError } from 'portico/server'
import { serveStdio } from 'portico/stdio'
import * as z from 'zod/v4'

export const server = createServer({ name: 'notes', version: '2.0.0' })

const notes = new Map([['milk', 'Two litres']])

server.tool(
  'note',
  { title: 'Note', description: 'Reads a note', input: z.object({ name: z.string() }), output: z.object({ text: z.string() }) },
  async ({ name }) => {
    const text = notes.get(name)
    if (text === undefined) throw new ToolError(`There is no note ${name}`)
    return { content: [{ type: 'text', text }], structuredContent: { text } }
  },
)

server.resource('note://{name}', { name: 'note' }, async ({ name }) => notes.get(String(name)) ?? '')

server.prompt('summary', { input: z.object({ name: z.string() }) }, async ({ name }) => ({
  messages: [{ role: 'user', content: { type: 'text', text: `Summarise ${name}` } }],
}))

export async function main(): Promise<void> {
  serveStdio(server)
}
