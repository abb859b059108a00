/** Stores notes in the journal, publishes them as resources, and announces changes. */

import { randomBytes } from 'node:crypto'
import { type FSWatcher, watch } from 'node:fs'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { type ResourceHandle, type Server, ToolError } from '../../server/index.ts'
import { type Journal, type JournalLimits, openJournal } from './journal.ts'
import type { Entry, Note } from './note.ts'

export interface NoteBookLimits extends JournalLimits {
  maxNotes: number
  /** Maximum size of the text of one note. */
  maxTextBytes: number
}

const DEFAULT_NOTES_LIMITS: NoteBookLimits = {
  maxNotes: 10_000,
  maxTextBytes: 256 * 1024,
  maxJournalBytes: 1024 * 1024,
  maxSnapshotBytes: 64 * 1024 * 1024,
  // Longer than lockStaleMs, so that the lock of a dead process expires first.
  lockTimeoutMs: 15_000,
  lockStaleMs: 5_000,
}

const SETTLE_MS = 20

export type NoteParts = Pick<Note, 'title' | 'text' | 'tags'>

export class NoteBook {
  readonly #journal: Journal
  readonly #limits: NoteBookLimits
  readonly #server: Server
  readonly #resources = new Map<string, { handle: ResourceHandle; title: string }>()
  #watcher: FSWatcher | undefined
  #looking: NodeJS.Timeout | undefined

  private constructor(journal: Journal, limits: NoteBookLimits, server: Server) {
    this.#journal = journal
    this.#limits = limits
    this.#server = server
  }

  static async open(folder: string, limits: Partial<NoteBookLimits>, server: Server): Promise<NoteBook> {
    const all = withDefaults(DEFAULT_NOTES_LIMITS, limits)
    const book = new NoteBook(await openJournal(folder, all), all, server)
    server.resource(
      'note://{id}',
      { name: 'note', title: 'Note', mimeType: 'text/markdown', complete: { id: async () => (await book.all()).map(({ id }) => id) } },
      ({ id }) => book.#read(String(id)),
    )
    await book.#refresh()
    // Announces changes of other processes. If the folder cannot be watched, the next request finds them.
    try {
      book.#watcher = watch(folder, { persistent: false }, () => book.#onFileEvent())
      book.#watcher.on('error', () => book.close())
    } catch {}
    return book
  }

  /** All notes, the most recently changed first. */
  async all(): Promise<Note[]> {
    const notes = await this.#refresh()
    return [...notes.values()].sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : a.id < b.id ? -1 : 1))
  }

  async find(id: string): Promise<Note | undefined> {
    return (await this.#refresh()).get(id)
  }

  async add(parts: NoteParts): Promise<Note> {
    this.#checkSize(parts)
    const now = new Date().toISOString()
    const note: Note = { id: newId(), ...parts, createdAt: now, updatedAt: now, revision: 1 }
    return this.#put((notes) => {
      if (notes.size >= this.#limits.maxNotes)
        throw new ToolError(`The limit of ${notes.size} notes is reached (maxNotes); remove some first`)
      return note
    })
  }

  /** @param expected the revision that the note must have; any other is an error */
  async edit(id: string, changes: Partial<NoteParts>, expected?: number): Promise<Note> {
    return this.#put((notes) => {
      const note = notes.get(id)
      if (!note) throw noSuchNote(id)
      if (expected !== undefined && note.revision !== expected)
        throw new ToolError(`Note ${id} is at revision ${note.revision}, not ${expected}: it was changed; read it again`)
      const changed: Note = { ...note, ...changes, updatedAt: new Date().toISOString(), revision: note.revision + 1 }
      this.#checkSize(changed)
      return changed
    })
  }

  async remove(id: string): Promise<void> {
    await this.#change((notes) => {
      if (!notes.has(id)) throw noSuchNote(id)
      return { remove: id }
    })
  }

  close(): void {
    this.#watcher?.close()
    clearTimeout(this.#looking)
  }

  async #put(decide: (notes: ReadonlyMap<string, Note>) => Note): Promise<Note> {
    let note: Note | undefined
    await this.#change((notes) => {
      note = decide(notes)
      return { put: note }
    })
    return note as unknown as Note
  }

  async #change(decide: (notes: ReadonlyMap<string, Note>) => Entry): Promise<void> {
    try {
      await this.#journal.change(decide)
    } catch (error) {
      // The original error names the lock file and its owner, which the client must not see.
      if (error instanceof McpError && error.code === 'ERR_TIMEOUT') throw new ToolError('Another process is using the notes; try again')
      throw error
    }
    await this.#refresh()
  }

  async #refresh(): Promise<ReadonlyMap<string, Note>> {
    const { notes, changed } = await this.#journal.refresh()
    for (const id of changed) this.#show(id, notes.get(id))
    return notes
  }

  /** Schedules one refresh for all file events of a change. */
  #onFileEvent(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = undefined
      this.#refresh().catch(() => {})
    }, SETTLE_MS).unref()
  }

  #checkSize({ text }: Pick<Note, 'text'>): void {
    const size = Buffer.byteLength(text)
    if (size > this.#limits.maxTextBytes)
      throw new ToolError(`The text has ${size} bytes; the limit is ${this.#limits.maxTextBytes} (maxTextBytes)`)
  }

  async #read(id: string): Promise<string> {
    const note = await this.find(id)
    if (!note) throw new McpError('ERR_RESOURCE_NOT_FOUND', 'Resource not found', { data: { uri: `note://${id}` } })
    return asMarkdown(note)
  }

  #show(id: string, note: Note | undefined): void {
    const uri = `note://${id}`
    const shown = this.#resources.get(id)
    if (!note) {
      shown?.handle.changed()
      shown?.handle.remove()
      this.#resources.delete(id)
      return
    }
    const { title } = note
    const definition = { name: id, title, mimeType: 'text/markdown' }
    if (!shown) {
      const handle = this.#server.resource(uri, definition, () => this.#read(id))
      this.#resources.set(id, { handle, title })
      return
    }
    // Clients fetch the list again after each notification, so only a new title sends one.
    if (shown.title !== title) shown.handle.update(definition)
    shown.title = title
    shown.handle.changed()
  }
}

const ID = /^[a-z0-9]{10}$/

const newId = (): string => {
  const letters = 'abcdefghijklmnopqrstuvwxyz012345'
  return [...randomBytes(10)].map((byte) => letters[byte % letters.length]).join('')
}

export const noSuchNote = (id: string): ToolError =>
  new ToolError(
    ID.test(id)
      ? `There is no note ${id}`
      : `${JSON.stringify(id.slice(0, 40))} is not a note id; ids have 10 letters and digits, see search and list`,
  )

/** The note as Markdown, with its title and tags. */
export const asMarkdown = ({ title, text, tags }: Note): string =>
  `# ${title}\n\n${text}\n${tags.length > 0 ? `\n${tags.map((tag) => `#${tag}`).join(' ')}\n` : ''}`
