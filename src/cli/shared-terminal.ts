/**
 * Who may write to the terminal. While a question stands on it, nobody but the question does: what is drawn over is found by counting
 * lines, and a line of somebody else between them would leave a part of the question that looks like one. What others say waits.
 */

import type { Writable } from 'node:stream'

/** Standard output or standard error. */
export interface Output {
  readonly stream: Writable
  readonly isTTY: boolean
  /** Undefined when it has no width. */
  columns(): number | undefined
}

/** A line being typed: it is on the screen from `resume` to `withdraw`, and with it the keyboard is its own. */
export interface Typing {
  resume(): void
  withdraw(): void
}

/** What may wait for the answer to a question; more than this is left out, and that is said. */
const MAX_WAITING_BYTES = 1024 * 1024
const WIPE_LINE = '\r\u001b[K'

export class SharedTerminal {
  #questions: Promise<unknown> = Promise.resolve()
  #isAsking = false
  #waiting: { output: Output; data: string | Uint8Array }[] = []
  #waitingBytes = 0
  #leftOut = 0
  /** Where a line stands that is wiped before anything else is written. */
  #passing: Output | undefined
  #typing: Typing | undefined

  write(output: Output, data: string | Uint8Array): void {
    if (!output.isTTY) output.stream.write(data)
    else if (this.#isAsking) this.#wait(output, data)
    else
      this.#aside(() => {
        output.stream.write(data)
      })
  }

  /** Draws over the last line, until something else is written. It says how things stand, so nothing of it waits. */
  showTransient(output: Output, text: string): void {
    if (!output.isTTY || this.#isAsking || this.#typing) return
    output.stream.write(`${WIPE_LINE}${text}`)
    this.#passing = output
  }

  clear(): void {
    this.#passing?.stream.write(WIPE_LINE)
    this.#passing = undefined
  }

  /** One question after another. `use` writes to the terminal that it is given, which is its own until it is done. */
  async ask<T>(use: (own: SharedTerminal) => Promise<T>): Promise<T> {
    const asked = this.#questions.then(() => this.#askNow(use))
    this.#questions = asked.catch(() => {})
    return asked
  }

  /** From now on a line is typed, below whatever is written; after the question, if there is one. Returns what ends that. */
  type(typing: Typing): () => void {
    this.#typing = typing
    if (!this.#isAsking) {
      this.clear()
      typing.resume()
    }
    return () => {
      if (this.#typing === typing) this.#typing = undefined
    }
  }

  async #askNow<T>(use: (own: SharedTerminal) => Promise<T>): Promise<T> {
    this.clear()
    this.#typing?.withdraw()
    this.#isAsking = true
    try {
      return await use(new SharedTerminal())
    } finally {
      this.#isAsking = false
      this.#tellWaiting()
      this.#typing?.resume()
    }
  }

  #aside(write: () => void): void {
    this.clear()
    this.#typing?.withdraw()
    write()
    this.#typing?.resume()
  }

  #wait(output: Output, data: string | Uint8Array): void {
    if (this.#waitingBytes + data.length > MAX_WAITING_BYTES) {
      this.#leftOut += data.length
      return
    }
    this.#waitingBytes += data.length
    this.#waiting.push({ output, data })
  }

  #tellWaiting(): void {
    const [waiting, leftOut] = [this.#waiting, this.#leftOut]
    this.#waiting = []
    this.#waitingBytes = this.#leftOut = 0
    for (const { output, data } of waiting) output.stream.write(data)
    if (leftOut > 0) waiting[0]?.output.stream.write(`(${leftOut} more bytes came during the question, and are left out)\n`)
  }
}
