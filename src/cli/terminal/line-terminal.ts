/** Lines that a person types, one after another, with a history. */

import { createInterface } from 'node:readline'
import type { Io } from '../io.ts'

const MAX_HISTORY = 1000

export class LineTerminal {
  readonly #io: Io
  readonly #prompt: string
  #history: string[] = []
  /** Lines that came in one piece with another, as pasted ones do, and the beginning of the next. */
  readonly #ahead: string[] = []
  #begun = ''

  constructor(io: Io, prompt: string) {
    this.#io = io
    this.#prompt = prompt
  }

  /** Resolves with undefined when the person has closed the input, pressed Ctrl-C, or the signal says so. */
  read(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return Promise.resolve(undefined)
    const ahead = this.#ahead.shift()
    if (ahead !== undefined) return Promise.resolve(ahead)
    return new Promise((resolve) => {
      // One interface a line: between two lines the keyboard belongs to whoever asks a question.
      const line = createInterface({
        input: this.#io.stdin,
        output: this.#io.stderr.stream,
        prompt: this.#prompt,
        terminal: true,
        history: this.#history,
        historySize: MAX_HISTORY,
      })
      const end = (): void => line.close()
      let typed: string | undefined
      signal.addEventListener('abort', end, { once: true })
      line.on('history', (history: string[]) => {
        this.#history = [...history]
      })
      line.on('SIGINT', end)
      line.on('line', (text) => {
        if (typed !== undefined) return void this.#ahead.push(text)
        typed = text
        setImmediate(() => {
          this.#begun = line.line
          line.close()
        })
      })
      line.once('close', () => {
        signal.removeEventListener('abort', end)
        resolve(typed)
      })
      line.prompt()
      if (this.#begun !== '') line.write(this.#begun)
      this.#begun = ''
    })
  }
}
