/** Command output: results to standard output, notes to standard error. */

import type { Io } from '../io.ts'
import type { Output } from '../shared-terminal.ts'
import { fitted } from './fitted.ts'
import { jsonText } from './json.ts'
import { NOTHING, type SafeText, safe } from './safe-text.ts'
import { type Styles, stylesFor, supportsLinks, wantsColour } from './style.ts'

const NARROWEST = 40
const NARROWEST_NOTE = 20

export class Screen {
  readonly #io: Io
  #scrub = (text: string): string => text
  /** Results are written as JSON. */
  readonly isJson: boolean
  /** Styles for standard output. */
  readonly style: Styles
  /** Styles for standard error. */
  readonly noteStyle: Styles

  constructor(io: Io, options: { isJson?: boolean } = {}) {
    this.#io = io
    this.isJson = options.isJson ?? false
    this.style = stylesFor(wantsColour(io, io.stdout))
    this.noteStyle = stylesFor(wantsColour(io, io.stderr))
  }

  /** Removes these secrets from everything that is shown from now on. */
  hideSecrets(scrub: (text: string) => string): void {
    this.#scrub = scrub
  }

  /** Width for tables. Undefined without a terminal. */
  get columns(): number | undefined {
    return columnsOf(this.#io.stdout)
  }

  /** Width for notes, which are wrapped and may be narrower. */
  get noteColumns(): number | undefined {
    return this.#io.stderr.isTTY ? Math.max(NARROWEST_NOTE, this.#io.stderr.columns() ?? NARROWEST) : undefined
  }

  /** An address that a note shows. It stays on one line: a broken address can be neither clicked nor copied. */
  noteLink(href: string): SafeText {
    const shown = this.noteStyle.cyan(safe`${href}`)
    return supportsLinks(this.#io, this.#io.stderr) ? shown.linked(href) : shown
  }

  /** Rows of the terminal that shows notes. */
  get noteRows(): number {
    return (this.#io.stderr.stream as { rows?: number }).rows ?? 24
  }

  /** A line of the result, broken at words. */
  print(line: SafeText = NOTHING): void {
    this.#write(this.#io.stdout, `${fitted(line.text, this.columns)}\n`)
  }

  /** Lines of the result that are data or code, and stay as they are. */
  printWhole(lines: SafeText): void {
    this.#write(this.#io.stdout, `${lines.text}\n`)
  }

  /** A part of a line of the result, as it streams in. */
  printPart(part: SafeText): void {
    this.#write(this.#io.stdout, part.text)
  }

  /** The whole result as JSON. */
  printJson(value: unknown): void {
    this.#write(this.#io.stdout, `${jsonText(value, this.#io.stdout.isTTY ? 2 : undefined)}\n`)
  }

  /** One of many results, as one line of JSON. */
  printJsonLine(value: unknown): void {
    this.#write(this.#io.stdout, `${jsonText(value)}\n`)
  }

  /** A line for the person, on standard error, broken at words. */
  note(line: SafeText): void {
    this.#write(this.#io.stderr, `${fitted(line.text, this.noteColumns)}\n`)
  }

  /** Lines for the person that are code, and stay as they are. */
  noteWhole(lines: SafeText): void {
    this.#write(this.#io.stderr, `${lines.text}\n`)
  }

  /** Writes bytes without escaping. Only for output that the user asked for. */
  printBytes(bytes: Uint8Array): void {
    this.#io.terminal.write(this.#io.stdout, bytes)
  }

  /** Part of a line for the person, such as a prompt. */
  notePart(part: SafeText): void {
    this.#io.terminal.write(this.#io.stderr, part.text)
  }

  /** Shows a line on standard error until something else is written or `clear` is called. Does nothing without a terminal. */
  showTransient(line: SafeText): void {
    this.#io.terminal.showTransient(this.#io.stderr, this.#scrub(line.text))
  }

  clear(): void {
    this.#io.terminal.clear()
  }

  #write(output: Output, text: string): void {
    this.#io.terminal.write(output, this.#scrub(text))
  }
}

export function columnsOf(output: Output): number | undefined {
  const columns = output.columns()
  return output.isTTY && columns !== undefined ? Math.max(NARROWEST, columns) : undefined
}
