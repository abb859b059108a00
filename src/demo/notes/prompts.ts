/** The prompts of the notes server. */

import { counted } from '../../base/text/counted.ts'
import { embed, McpError, type Server, text } from '../../server/index.ts'
import { allRequired, object } from '../schema.ts'
import { asMarkdown, type NoteBook } from './note-book.ts'
import { withTag } from './tools.ts'

const WEEK_MS = 7 * 24 * 60 * 60_000
const MAX_REVIEWED = 50
/** In characters, for all notes together: 50 notes of the largest size would exceed the limits of clients. */
const MAX_REVIEWED_LENGTH = 1024 * 1024

export function addPrompts(server: Server, book: NoteBook): void {
  server.prompt(
    'summarise',
    {
      title: 'Summarise a note',
      description: 'Summarises one note',
      input: allRequired({ id: { type: 'string', description: 'The id of the note' } }),
      complete: { id: async () => (await book.all()).map(({ id }) => id) },
    },
    async ({ id }) => {
      const note = await book.find(id)
      if (!note) throw new McpError('ERR_INVALID_PARAMS', `There is no note ${JSON.stringify(id.slice(0, 40))}`)
      return [embed(`note://${id}`, asMarkdown(note), 'text/markdown'), text('Summarise this note in three sentences.')]
    },
  )
  server.prompt(
    'weekly-review',
    {
      title: 'Weekly review',
      description: 'Reviews the notes of the last seven days: work done, decisions, open points',
      input: object({ tag: { type: 'string', description: 'Only notes with this tag' } }),
      complete: { tag: async () => [...new Set((await book.all()).flatMap(({ tags }) => tags))].sort() },
    },
    async ({ tag }) => {
      const since = new Date(Date.now() - WEEK_MS).toISOString()
      const notes = withTag(await book.all(), tag).filter(({ updatedAt }) => updatedAt >= since)
      const asked = 'Review these notes of the last seven days. List the work done, the decisions and the open points.'
      if (notes.length === 0)
        return `There are no notes of the last seven days${tag === undefined ? '' : ` with the tag ${tag}`}. Tell the person.`
      let left = MAX_REVIEWED_LENGTH
      const shown = notes.slice(0, MAX_REVIEWED).filter((note) => {
        left -= asMarkdown(note).length
        return left >= 0
      })
      const rest = shown.length < notes.length ? ` ${counted(notes.length - shown.length, 'more is', 'more are')} not shown.` : ''
      return [...shown.map((note) => embed(`note://${note.id}`, asMarkdown(note), 'text/markdown')), text(`${asked}${rest}`)]
    },
  )
}
