/** Where a command writes: results to standard output, everything said about them to standard error. */

import type { Io } from '../io.ts'
import type { Output } from '../shared-terminal.ts'
import { jsonText } from './json.ts'
import { NOTHING, type SafeText } from './safe-text.ts'
import { type Styles, stylesFor, wantsColour } from './style.ts'

const NARROWEST = 40
const NARROWEST_NOTE = 20

export class Screen {
  readonly #io: Io
  /** Results are for a program. */
  readonly isJson: boolean
  /** Styles of what goes to standard output. */
  readonly style: Styles
  /** Styles of what goes to standard error. */
  readonly noteStyle: Styles

  constructor(io: Io, options: { isJson?: boolean } = {}) {
    this.#io = io
    this.isJson = options.isJson ?? false
    this.style = stylesFor(wantsColour(io, io.stdout))
    this.noteStyle = stylesFor(wantsColour(io, io.stderr))
  }

  /** Columns to lay a table out for; undefined when nobody looks at it. */
  get columns(): number | undefined {
    return columnsOf(this.#io.stdout)
  }

  /** The same for what is said beside the result, which is broken into lines and needs less. */
  get noteColumns(): number | undefined {
    return this.#io.stderr.isTTY ? Math.max(NARROWEST_NOTE, this.#io.stderr.columns() ?? NARROWEST) : undefined
  }

  /** A line of the result. */
  print(line: SafeText = NOTHING): void {
    this.#io.terminal.write(this.#io.stdout, `${line.text}\n`)
  }

  /** A piece of a line of the result, as it comes. */
  printPart(part: SafeText): void {
    this.#io.terminal.write(this.#io.stdout, part.text)
  }

  /** The whole result, for a program. */
  printJson(value: unknown): void {
    this.#io.terminal.write(this.#io.stdout, `${jsonText(value, this.#io.stdout.isTTY ? 2 : undefined)}\n`)
  }

  /** One of many results, for a program. */
  printJsonLine(value: unknown): void {
    this.#io.terminal.write(this.#io.stdout, `${jsonText(value)}\n`)
  }

  /** A line for the person, beside the result. */
  note(line: SafeText): void {
    this.#io.terminal.write(this.#io.stderr, `${line.text}\n`)
  }

  /** Bytes that somebody asked for as they are. */
  printBytes(bytes: Uint8Array): void {
    this.#io.terminal.write(this.#io.stdout, bytes)
  }

  /** Draws over the last line of standard error, until something else is written or `clear` is called. Nothing where there is no terminal. */
  showTransient(line: SafeText): void {
    this.#io.terminal.showTransient(this.#io.stderr, line.text)
  }

  clear(): void {
    this.#io.terminal.clear()
  }
}

export function columnsOf(output: Output): number | undefined {
  const columns = output.columns()
  return output.isTTY && columns !== undefined ? Math.max(NARROWEST, columns) : undefined
}
