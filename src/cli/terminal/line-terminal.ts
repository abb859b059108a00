/** Lines that a person types, one after another, with a history. A question that comes up takes the line off the screen and gives it back. */

import { createInterface, type Interface } from 'node:readline'
import type { Io } from '../io.ts'

const MAX_HISTORY = 1000
const TWICE = '(Ctrl-C once more ends it, as Ctrl-D does)\n'

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

  /** Resolves with undefined when the person has closed the input, pressed Ctrl-C twice, or the signal says so. */
  read(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return Promise.resolve(undefined)
    const ahead = this.#ahead.shift()
    if (ahead !== undefined) return Promise.resolve(ahead)
    return new Promise((resolve) => {
      // One interface a line: between two lines the keyboard belongs to whoever asks a question.
      let line: Interface | undefined
      let wasInterrupted = false
      let stopTyping = (): void => {}
      const finish = (typed: string | undefined): void => {
        const last = line
        line = undefined
        stopTyping()
        signal.removeEventListener('abort', abort)
        last?.close()
        resolve(typed)
      }
      const abort = (): void => finish(undefined)
      const interrupt = (): void => {
        if (wasInterrupted && line?.line === '') return finish(undefined)
        wasInterrupted = true
        // What was typed is thrown away, as shells do; a second time is a wish to leave.
        withdraw()
        this.#begun = ''
        this.#io.stderr.stream.write(TWICE)
        open()
      }
      const open = (): void => {
        const opened = this.#open()
        line = opened
        opened.on('SIGINT', interrupt)
        opened.on('history', (history: string[]) => {
          this.#history = [...history]
        })
        let typed: string | undefined
        opened.on('line', (text) => {
          if (typed !== undefined) return void this.#ahead.push(text)
          typed = text
          // From here on it is done, and not to be drawn again.
          stopTyping()
          setImmediate(() => {
            this.#begun = opened.line
            finish(typed)
          })
        })
        opened.once('close', () => {
          if (line === opened) finish(typed)
        })
        opened.prompt()
        if (this.#begun !== '') opened.write(this.#begun)
        this.#begun = ''
      }
      const withdraw = (): void => {
        const withdrawn = line
        if (!withdrawn) return
        line = undefined
        this.#begun = withdrawn.line
        this.#wipe(withdrawn)
        withdrawn.close()
      }
      signal.addEventListener('abort', abort, { once: true })
      stopTyping = this.#io.terminal.type({ withdraw, resume: open })
    })
  }

  #open(): Interface {
    return createInterface({
      input: this.#io.stdin,
      output: this.#io.stderr.stream,
      prompt: this.#prompt,
      terminal: true,
      history: this.#history,
      historySize: MAX_HISTORY,
    })
  }

  /** Takes the prompt and what was typed off the screen. */
  #wipe(line: Interface): void {
    const { rows } = line.getCursorPos()
    this.#io.stderr.stream.write(`\r${rows > 0 ? `\u001b[${rows}A` : ''}\u001b[J`)
  }
}
