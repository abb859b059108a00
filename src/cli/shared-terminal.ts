/**
 * Shares the terminal between output, questions and typing. While a question is open only the question writes: prompts redraw by
 * counting lines, so another line in between would leave parts of an old question behind. Other output waits.
 */

import type { Writable } from 'node:stream'

/** Standard output or standard error. */
export interface Output {
  readonly stream: Writable
  readonly isTTY: boolean
  /** Undefined when it has no width. */
  columns(): number | undefined
}

/** A line being typed. Between `resume` and `withdraw` it is on the screen and owns the keyboard. */
export interface Typing {
  resume(): void
  withdraw(): void
}

/** Output that may wait while a question is open. More is dropped, with a note. */
const MAX_WAITING_BYTES = 1024 * 1024
const WIPE_LINE = '\r\u001b[K'

export class SharedTerminal {
  #questions: Promise<unknown> = Promise.resolve()
  #isAsking = false
  #waiting: { output: Output; data: string | Uint8Array }[] = []
  #waitingBytes = 0
  #leftOut = 0
  /** The output that shows a transient line, if any. The line is erased before the next write. */
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

  /** Draws over the last line until something else is written. Dropped while a question is open. */
  showTransient(output: Output, text: string): void {
    if (!output.isTTY || this.#isAsking || this.#typing) return
    output.stream.write(`${WIPE_LINE}${text}`)
    this.#passing = output
  }

  clear(): void {
    this.#passing?.stream.write(WIPE_LINE)
    this.#passing = undefined
  }

  /** Runs questions one after another. `use` gets a terminal to write to. */
  async ask<T>(use: (own: SharedTerminal) => Promise<T>): Promise<T> {
    const asked = this.#questions.then(() => this.#askNow(use))
    this.#questions = asked.catch(() => {})
    return asked
  }

  /** Starts a typed line below all output, after an open question. Returns a function that ends it. */
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
    if (leftOut > 0) waiting[0]?.output.stream.write(`(${leftOut} more bytes of output during the question were dropped)\n`)
  }
}
