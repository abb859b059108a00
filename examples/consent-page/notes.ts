/** The tools of the agent: notes in memory. Replace it with servers of your own. */

import { createServer, type Server } from 'portico/server'
import { z } from 'zod'

export function notesServer(): Server {
  const notes: string[] = ['Call Anna']
  const server = createServer({ name: 'notes', version: '1.0.0' })
  server.tool('list', { description: 'Lists all notes', annotations: { readOnlyHint: true } }, () => notes.join('\n'))
  server.tool(
    'add',
    { description: 'Adds a note', input: z.object({ text: z.string() }) },
    ({ text }) => `Note ${notes.push(text)} is kept`,
  )
  return server
}
