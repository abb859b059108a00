/** Wraps text at words while it streams in. Complete lines are broken by `Screen`. */

import { LINE_BREAK, type SafeText, untrusted } from './safe-text.ts'
import { widthOf } from './width.ts'

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
