/** A server in this process. Add others as { command, args } or as a URL, in main.ts. */

import { createServer, type Server } from 'portico/server'
import * as z from 'zod'

export function notesServer(): { server: Server; notes: string[] } {
  const notes: string[] = []
  const server = createServer({ name: 'notes', version: '0.1.0' })
  server.tool(
    'add',
    { description: 'Adds a note', input: z.object({ text: z.string() }) },
    ({ text }) => `Note ${notes.push(text)} is stored`,
  )
  server.tool('list', { description: 'Lists the notes', annotations: { readOnlyHint: true } }, () => ({ notes }))
  return { server, notes }
}
