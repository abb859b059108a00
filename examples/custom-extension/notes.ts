/** A server that uses the extension: what `add` and `remove` do can be taken back. */

import { createServer, type Server, ToolError } from 'portico/server'
import { z } from 'zod'
import { addUndo } from './undo.ts'

export function notesServer(notes: string[] = []): Server {
  const server = createServer({ name: 'notes', version: '1.0.0' })
  const did = addUndo(server)
  const input = z.object({ text: z.string() })

  server.tool('list', {}, () => notes.join('\n') || '(no notes)')
  server.tool('add', { input }, ({ text }) => {
    notes.push(text)
    did(`add "${text}"`, () => notes.splice(notes.lastIndexOf(text), 1))
    return 'Added'
  })
  server.tool('remove', { input }, ({ text }) => {
    const at = notes.indexOf(text)
    if (at < 0) throw new ToolError(`There is no note "${text}"`)
    notes.splice(at, 1)
    did(`remove "${text}"`, () => notes.splice(at, 0, text))
    return 'Removed'
  })
  return server
}
