/** A list of entries to choose from: which rows are on the screen, and which entries the person has read. */

import type { SafeText } from '../output/safe-text.ts'

export interface ListEntry {
  /** The first row stands beside the box. Nothing is left out: a long entry is scrolled. */
  rows(columns: number): readonly SafeText[]
  /** A part of the entry is only in its details, which have to be opened before the entry can be chosen. */
  hasDetailsToRead: boolean
}

/** One row of the window. */
export interface ListRow {
  entry: number
  text: SafeText
  isFirst: boolean
}

/** What a key did. Undefined: nothing to say. */
export type ListNote = 'read-on' | 'open-details' | 'more-below' | undefined

/** No entry can be chosen before all of its rows were on the screen. */
export class ChoiceList {
  readonly #entries: readonly ListEntry[]
  readonly #chosen = new Set<number>()
  readonly #opened = new Set<number>()
  /** Rows that were on the screen. */
  readonly #seen = new Set<number>()
  #rows: readonly ListRow[] = []
  #columns = 0
  #height = 1
  #top = 0
  #current = 0

  constructor(entries: readonly ListEntry[]) {
    this.#entries = entries
  }

  get current(): number {
    return this.#current
  }

  get chosen(): number[] {
    return [...this.#chosen].sort((a, b) => a - b)
  }

  isChosen(entry: number): boolean {
    return this.#chosen.has(entry)
  }

  get rowCount(): number {
    return this.#rows.length
  }

  /** How many rows are above the window, and below it. */
  get hidden(): { above: number; below: number } {
    return { above: this.#top, below: Math.max(0, this.#rows.length - this.#top - this.#height) }
  }

  /** The rows to draw. After this they count as seen. */
  window(columns: number, height: number): ListRow[] {
    if (columns !== this.#columns) this.#layOut(columns)
    if (height !== this.#height) {
      this.#height = height
      this.#showCurrent()
    }
    const shown = this.#rows.slice(this.#top, this.#top + this.#height)
    for (let i = 0; i < shown.length; i++) this.#seen.add(this.#top + i)
    return shown
  }

  /** Moves to the next entry. An entry that is taller than the window is scrolled to its end first. */
  down(): void {
    const hidden = this.#end(this.#current) - (this.#top + this.#height)
    if (hidden > 0) this.#top += Math.min(hidden, Math.max(1, this.#height - 1))
    else if (this.#current < this.#entries.length - 1) {
      this.#current++
      this.#showCurrent()
    }
  }

  up(): void {
    const hidden = this.#top - this.#start(this.#current)
    if (hidden > 0) this.#top -= Math.min(hidden, Math.max(1, this.#height - 1))
    else if (this.#current > 0) {
      this.#current--
      this.#showCurrent()
    }
  }

  /** Chooses the current entry, or no longer. */
  toggle(): ListNote {
    const entry = this.#current
    if (this.#chosen.delete(entry)) return undefined
    if (!this.#isRead(entry)) return 'read-on'
    if (!this.#isOpened(entry)) return 'open-details'
    this.#chosen.add(entry)
    return undefined
  }

  /** Chooses all entries, or none if all are chosen. Entries that were not read are left out. */
  toggleAll(): ListNote {
    const all = this.#entries.map((_, i) => i)
    if (this.#chosen.size === all.length) {
      this.#chosen.clear()
      return undefined
    }
    for (const entry of all) if (this.#isRead(entry) && this.#isOpened(entry)) this.#chosen.add(entry)
    if (all.some((entry) => !this.#isRead(entry))) return 'more-below'
    return all.some((entry) => !this.#isOpened(entry)) ? 'open-details' : undefined
  }

  /** The details of the current entry were shown. */
  opened(): void {
    this.#opened.add(this.#current)
  }

  #isOpened(entry: number): boolean {
    return this.#entries[entry]?.hasDetailsToRead !== true || this.#opened.has(entry)
  }

  #isRead(entry: number): boolean {
    for (let row = this.#start(entry); row < this.#end(entry); row++) if (!this.#seen.has(row)) return false
    return true
  }

  #start(entry: number): number {
    return this.#rows.findIndex((row) => row.entry === entry)
  }

  #end(entry: number): number {
    return this.#start(entry) + this.#rows.filter((row) => row.entry === entry).length
  }

  /** The rows break elsewhere now, so what was seen before says nothing. What was chosen was read. */
  #layOut(columns: number): void {
    this.#columns = columns
    this.#rows = this.#entries.flatMap((each, entry) => each.rows(columns).map((text, i) => ({ entry, text, isFirst: i === 0 })))
    this.#seen.clear()
    this.#showCurrent()
  }

  /** Scrolls as little as possible until the current entry is on the screen as a whole, or its beginning if it is too tall. */
  #showCurrent(): void {
    const start = this.#start(this.#current)
    const end = this.#end(this.#current)
    if (end > this.#top + this.#height) this.#top = end - this.#height
    if (start < this.#top) this.#top = start
    this.#top = Math.max(0, Math.min(this.#top, this.#rows.length - 1))
  }
}
