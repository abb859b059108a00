/** Notes that are kept on this machine: tools, resources that can be watched, prompts, completion. */

import { createServer, type Server, type ServerOptions } from '../../server/index.ts'
import { NoteBook, type NoteBookLimits } from './note-book.ts'
import { addPrompts } from './prompts.ts'
import { addTools } from './tools.ts'

export interface NotesOptions {
  /** Where the notes are kept. It is made if it is not there; several servers may share it. */
  folder: string
  limits?: Partial<NoteBookLimits>
  server?: Partial<ServerOptions>
}

/** Rejects with ERR_STORE when the folder cannot be used, or what is in it is damaged. */
export async function notesServer({ folder, limits = {}, server: options }: NotesOptions): Promise<Server> {
  const server = createServer({
    name: 'notes',
    version: '1.0.0',
    title: 'Notes',
    instructions: 'Notes of the person. Search before adding, so that nothing is written down twice. Each note is a resource note://{id}.',
    ...options,
  })
  const book = await NoteBook.open(folder, limits, server)
  addTools(server, book)
  addPrompts(server, book)
  return {
    ...server,
    close: async () => {
      book.close()
      await server.close()
    },
  }
}
