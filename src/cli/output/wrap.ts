/** Wraps text at words for a terminal, as a whole or while it streams in. */

import { LINE_BREAK, SafeText, type Showable, untrusted, untrustedLines } from './safe-text.ts'
import { expandTabs, widthOf, wrapTo } from './width.ts'

/** Narrower lines cannot be read. */
const NARROWEST = 20

export interface WrapOptions {
  /** Columns of the terminal. Undefined: nothing is wrapped. */
  columns: number | undefined
  /** Spaces before every line but the first. Default: 0. */
  indent?: number
  /** Width of what stands before the text on its first line. Default: `indent`. */
  lead?: number
  style?(line: Showable): SafeText
}

/** Untrusted text with its line breaks, wrapped at words. */
export function wrapped(text: string, { columns, indent = 0, lead = indent, style = untrustedLine }: WrapOptions): SafeText {
  const lines = wrappedLines(text, columns === undefined ? undefined : Math.max(NARROWEST, columns - indent), lead - indent)
  return SafeText.join(lines.map(style), SafeText.join([LINE_BREAK, ' '.repeat(indent)]))
}

const untrustedLine = (line: Showable): SafeText => SafeText.join([line])

/**
 * The same as lines. The text is escaped before it is measured, because escapes are wider than what they stand for.
 * @param lead the columns that are taken on the first line
 */
export function wrappedLines(text: string, columns: number | undefined, lead = 0): string[] {
  const lines = expandTabs(untrustedLines(text).text).split('\n')
  return columns === undefined ? lines : lines.flatMap((line, i) => wrapAtWords(line, columns, i === 0 ? lead : 0))
}

/** Wraps where a word ends. A word that is wider than the line is broken, unless it is an address, which the person may copy. */
function wrapAtWords(line: string, columns: number, lead: number): string[] {
  if (lead + widthOf(line) <= columns) return [line]
  // Space at the start of a line is layout: of code, or of a table.
  if (/^\s/.test(line)) return wrapTo(line, columns, columns - lead)
  const lines: string[] = []
  let current: string | undefined
  for (const word of line.split(' ').flatMap((each) => (each.includes('://') ? [each] : wrapTo(each, columns)))) {
    const longer = current === undefined ? word : `${current} ${word}`
    if (current !== undefined && widthOf(longer) + (lines.length === 0 ? lead : 0) > columns) {
      lines.push(current)
      current = word
    } else current = longer
  }
  return [...lines, current ?? '']
}

/** Wraps text that arrives in pieces. A word is printed when it is complete. */
export class StreamedText {
  readonly #columns: () => number | undefined
  readonly #print: (text: SafeText) => void
  #word = ''
  /** Space before the next word. It is dropped where a line is wrapped. */
  #space = ''
  #column = 0

  constructor(columns: () => number | undefined, print: (text: SafeText) => void) {
    this.#columns = columns
    this.#print = print
  }

  add(text: string): void {
    for (const part of text.split(/(\s)/)) {
      if (part === '\n') {
        this.#putWord()
        this.#break()
      } else if (/^\s$/.test(part)) {
        this.#putWord()
        if (this.#space.length < MAX_SPACE) this.#space += part === '\t' ? '  ' : ' '
      } else {
        this.#word += part
        // Without a limit a text without spaces would never appear.
        if (this.#word.length > MAX_WORD) this.#putWord()
      }
    }
  }

  /** Prints the last word. */
  end(): void {
    this.#putWord()
    this.#column = 0
    this.#space = ''
  }

  #putWord(): void {
    if (this.#word === '') return
    const word = untrusted(this.#word).text
    this.#word = ''
    const columns = this.#columns()
    const isTooWide = columns !== undefined && this.#column + this.#space.length + widthOf(word) > columns
    if (isTooWide && this.#column > 0 && this.#space !== '') this.#break()
    const shown = `${this.#space}${word}`
    this.#space = ''
    this.#print(untrusted(shown))
    this.#column += widthOf(shown)
  }

  #break(): void {
    this.#print(LINE_BREAK)
    this.#column = 0
    this.#space = ''
  }
}

const MAX_WORD = 500
const MAX_SPACE = 40
