/** Draws a list of entries, and lets the person choose some of them with the space bar. */

import type { Io } from '../io.ts'
import { LINE_BREAK, NOTHING, SafeText, safe } from '../output/safe-text.ts'
import { Screen } from '../output/screen.ts'
import { ChoiceList, type ListEntry, type ListNote, type ListRow } from './choice-list.ts'
import { INTERRUPT, QUIET_MS } from './key-filter.ts'
import { rawInput } from './raw-input.ts'

export interface ChooseOptions {
  signal: AbortSignal
  /** Rows above the list that should stay on the screen. */
  rowsAbove: number
  /** Prints the details of an entry as ordinary lines. */
  showDetails(entry: number): void
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?(): number
}

/** The fewest rows of a list. */
const LEAST_ROWS = 4
/** The note, the keys, and a free row. */
const ROWS_BELOW = 3
/** Columns before the rows of an entry, and a free one at the end. */
const INDENT = 4
const MARGIN = 1

const UP: ReadonlySet<string> = new Set(['\u001b[A', '\u001bOA'])
const DOWN: ReadonlySet<string> = new Set(['\u001b[B', '\u001bOB'])
const ENTER: ReadonlySet<string> = new Set(['\r', '\n'])
const CANCEL: ReadonlySet<string> = new Set(['\u001b', '\u0004', INTERRUPT])

const NOTES: Readonly<Record<NonNullable<ListNote> | 'nothing', string>> = {
  'read-on': 'Read it to its end first: arrow down.',
  'open-details': 'Open the details first (d): a part is folded.',
  'more-below': 'The others were not on the screen yet: arrow down to read them.',
  nothing: 'Nothing is chosen. Space chooses an entry, Esc closes the list.',
}

/**
 * Use only inside `SharedTerminal.ask`. Keys count after a moment without input, as for every question. What is chosen approves
 * nothing yet: ask once more.
 */
export class ListChooser {
  readonly #io: Io
  readonly #screen: Screen
  readonly #list: ChoiceList
  readonly #options: ChooseOptions
  /** Rows on the screen that the next drawing replaces. */
  #drawn = 0
  #note = ''

  constructor(io: Io, entries: readonly ListEntry[], options: ChooseOptions) {
    this.#io = io
    this.#screen = new Screen(io)
    this.#list = new ChoiceList(entries)
    this.#options = options
  }

  /** Resolves with the indexes of the chosen entries, at least one. Call it again to go on choosing. @throws Cancelled */
  choose(): Promise<number[]> {
    const { signal, now = () => performance.now() } = this.#options
    const { stdin } = this.#io
    stdin.setRawMode?.(true)
    this.#drawn = 0
    this.#draw()
    // Input typed before the list was visible chooses nothing.
    while (stdin.read() !== null);
    return new Promise((resolve, reject) => {
      let quietSince = now()
      let isOpen = false
      // A busy process reads input long after it was typed: what waits when the first moment ends is read, and dropped.
      let opening: NodeJS.Timeout
      const wait = (): void => {
        clearTimeout(opening)
        opening = setTimeout(() => setImmediate(() => (isOpen = now() - quietSince >= QUIET_MS)), QUIET_MS)
      }
      const onData = (input: string): void => {
        if (input === INTERRUPT) return raw.cancel()
        if (!isOpen) {
          quietSince = now()
          return wait()
        }
        if (CANCEL.has(input)) return raw.cancel()
        if (ENTER.has(input) && this.#list.chosen.length > 0) {
          raw.stop()
          return resolve(this.#list.chosen)
        }
        if (this.#press(input)) this.#draw()
      }
      const raw = rawInput({ stdin }, signal, { onData, onStop: () => clearTimeout(opening), onCancel: reject })
      wait()
      raw.start()
    })
  }

  /** False for input that means nothing, such as a paste. */
  #press(input: string): boolean {
    const list = this.#list
    this.#note = ''
    if (UP.has(input)) list.up()
    else if (DOWN.has(input)) list.down()
    else if (input === ' ') this.#say(list.toggle())
    else if (input === 'a') this.#say(list.toggleAll())
    else if (input === 'd') this.#details()
    else if (ENTER.has(input)) this.#note = NOTES.nothing
    else return false
    return true
  }

  #say(note: ListNote): void {
    if (note) this.#note = NOTES[note]
  }

  #details(): void {
    this.#options.showDetails(this.#list.current)
    this.#list.opened()
    // The list is drawn again below the details.
    this.#drawn = 0
  }

  #draw(): void {
    const { rowsAbove } = this.#options
    const { noteRows, noteColumns = 80, noteStyle: style } = this.#screen
    const columns = Math.max(1, noteColumns - INDENT - MARGIN)
    const isTight = rowsAbove > noteRows / 2
    const room = Math.max(LEAST_ROWS, noteRows - ROWS_BELOW - (isTight ? 0 : rowsAbove))
    const rows = this.#list.window(columns, room)
    const lines = [...rows.map((row) => this.#row(row)), this.#status(), style.dim(safe`  ${KEYS}`)]
    const back = this.#drawn === 0 ? '' : `\r\u001b[${this.#drawn}A\u001b[J`
    this.#drawn = lines.length
    this.#io.stderr.stream.write(`${back}${SafeText.join(lines, LINE_BREAK).text}\n`)
  }

  #row({ entry, text, isFirst }: ListRow): SafeText {
    const { noteStyle: style } = this.#screen
    const isCurrent = entry === this.#list.current
    if (!isFirst) return safe`    ${text}`
    const box = this.#list.isChosen(entry) ? style.green('[x]') : '[ ]'
    return safe`${isCurrent ? style.cyan('>') : ' '} ${box} ${isCurrent ? style.bold(text) : text}`
  }

  #status(): SafeText {
    const { noteStyle: style, noteColumns = 80 } = this.#screen
    const { above, below } = this.#list.hidden
    const more = [...(above > 0 ? [`${above} more rows above`] : []), ...(below > 0 ? [`${below} more rows below`] : [])].join(', ')
    if (this.#note !== '') return style.yellow(safe`  ${this.#note}`.cut(noteColumns - MARGIN))
    return more === '' ? NOTHING : style.dim(safe`  (${more})`)
  }
}

const KEYS = '[space] choose  [a] all  [d] details  [enter] go on  [esc] none'
