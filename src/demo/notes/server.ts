/** A server for notes on this machine, with tools, resources, subscriptions, prompts and completion. */

import { createServer, type Server, type ServerOptions } from '../../server/index.ts'
import { NoteBook, type NoteBookLimits } from './note-book.ts'
import { addPrompts } from './prompts.ts'
import { addTools } from './tools.ts'

export interface NotesOptions {
  /** The folder of the notes. It is created if it is missing. Several servers may share it. */
  folder: string
  limits?: Partial<NoteBookLimits>
  server?: Partial<ServerOptions>
}

/** Rejects with ERR_STORE if the folder cannot be used or its files are damaged. */
export async function notesServer({ folder, limits = {}, server: options }: NotesOptions): Promise<Server> {
  const server = createServer({
    name: 'notes',
    version: '1.0.0',
    title: 'Notes',
    instructions: 'Notes of the person. Search before you add a note, to avoid duplicates. Each note is a resource note://{id}.',
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
