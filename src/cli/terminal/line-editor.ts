/** Reads typed lines, with a history. A question removes the line from the screen and restores it afterwards. */

import { createInterface, type Interface } from 'node:readline'
import type { Io } from '../io.ts'

const MAX_HISTORY = 1000
const TWICE = '(press Ctrl-C again or Ctrl-D to quit)\n'

export interface LineTerminalOptions {
  /** Lines typed before, the newest first. */
  history?: readonly string[]
  /** The candidates for Tab, and the part of the line that they replace. */
  complete?(line: string): Promise<[candidates: string[], replaced: string]>
}

export class LineTerminal {
  readonly #io: Io
  readonly #prompt: string
  readonly #complete: LineTerminalOptions['complete']
  #history: string[]
  /** Further lines of pasted input, and the unfinished rest. */
  readonly #ahead: string[] = []
  #begun = ''

  constructor(io: Io, prompt: string, { history = [], complete }: LineTerminalOptions = {}) {
    this.#io = io
    this.#prompt = prompt
    this.#complete = complete
    this.#history = [...history]
  }

  /** Resolves with undefined when the input is closed, Ctrl-C was pressed twice, or the signal aborts. */
  read(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return Promise.resolve(undefined)
    const ahead = this.#ahead.shift()
    if (ahead !== undefined) return Promise.resolve(ahead)
    return new Promise((resolve) => {
      // A new interface for each line: between lines a question may need the keyboard.
      let line: Interface | undefined
      let wasInterrupted = false
      let stopTyping = (): void => {}
      const finish = (typed: string | undefined): void => {
        const last = line
        line = undefined
        stopTyping()
        signal.removeEventListener('abort', abort)
        last?.close()
        // What follows begins on a line of its own, also the prompt of the system after Ctrl-D.
        if (typed === undefined && last) this.#io.stderr.stream.write('\n')
        resolve(typed)
      }
      const abort = (): void => finish(undefined)
      const interrupt = (): void => {
        if (wasInterrupted && line?.line === '') return finish(undefined)
        wasInterrupted = true
        // Discards the typed text, as shells do. A second Ctrl-C quits.
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
          // The line is complete and must not be redrawn.
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
    const complete = this.#complete
    return createInterface({
      ...(complete && {
        completer: (line: string, done: (error: null, found: [string[], string]) => void) =>
          void complete(line).then(
            (found) => done(null, found),
            () => done(null, [[], line]),
          ),
      }),
      input: this.#io.stdin,
      output: this.#io.stderr.stream,
      prompt: this.#prompt,
      terminal: true,
      history: this.#history,
      historySize: MAX_HISTORY,
    })
  }

  /** Erases the prompt and the typed text from the screen. */
  #wipe(line: Interface): void {
    const { rows } = line.getCursorPos()
    this.#io.stderr.stream.write(`\r${rows > 0 ? `\u001b[${rows}A` : ''}\u001b[J`)
  }
}
