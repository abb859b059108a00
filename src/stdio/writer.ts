/** Lines out: those of one turn of the event loop leave in one write. */

import type { Writable } from 'node:stream'
import { McpError } from '../protocol/errors.ts'

export interface LineWriterOptions {
  /** How much may wait for a reader that does not read. */
  maxPendingBytes: number
  /** The reader has stopped reading, or reads again. */
  onBlocked?(isBlocked: boolean): void
}

export class LineWriter {
  readonly #stream: Writable
  readonly #write: Writable['write']
  readonly #options: LineWriterOptions
  #lines = ''
  #isScheduled = false
  #isBlocked = false
  #onDrain: (() => void)[] = []

  /** @param write the stream's own write, where somebody has put another in its place */
  constructor(stream: Writable, options: LineWriterOptions, write: Writable['write'] = stream.write.bind(stream)) {
    this.#stream = stream
    this.#write = write
    this.#options = options
    // Who waits for the reader of a closed stream waits for ever.
    stream.once('close', () => this.#resume())
  }

  get pendingBytes(): number {
    return this.#lines.length + this.#stream.writableLength
  }

  /** Resolves when the producer may go on; undefined when it need not wait. Throws ERR_LIMIT when too much is waiting. */
  line(json: string): undefined | Promise<void> {
    if (this.#isBlocked && this.pendingBytes + json.length > this.#options.maxPendingBytes) {
      throw new McpError(
        'ERR_LIMIT',
        `More than ${this.#options.maxPendingBytes} bytes wait for a reader that does not read (maxPendingBytes)`,
      )
    }
    this.#lines += `${json}\n`
    if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(() => this.#flush())
    }
    return this.#isBlocked ? new Promise((resolve) => this.#onDrain.push(resolve)) : undefined
  }

  /** Resolves when everything written so far has left the process, or cannot any more. */
  async end(): Promise<void> {
    this.#flush()
    if (this.#stream.writableLength === 0 || this.#stream.destroyed) return
    // Not 'drain', which only follows a write that was told to wait.
    await new Promise<void>((resolve) => {
      this.#write.call(this.#stream, '', 'utf8', () => resolve())
    })
  }

  #flush(): void {
    this.#isScheduled = false
    if (this.#lines === '' || this.#stream.destroyed) return
    const lines = this.#lines
    this.#lines = ''
    if (this.#write.call(this.#stream, lines, 'utf8') || this.#isBlocked) return
    this.#isBlocked = true
    this.#options.onBlocked?.(true)
    this.#stream.once('drain', () => {
      this.#options.onBlocked?.(false)
      this.#resume()
    })
  }

  #resume(): void {
    this.#isBlocked = false
    for (const resume of this.#onDrain.splice(0)) resume()
  }
}
