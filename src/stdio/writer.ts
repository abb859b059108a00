/**
 * Lines out: those of one turn of the event loop leave in one write. The exception is an answer right after progress of
 * the same request. The official clients hand a progress notice on a turn later than an answer, and forget the request
 * with its answer: of a notice and an answer that arrive in one chunk, nobody hears the notice.
 */

import type { Writable } from 'node:stream'
import { McpError } from '../protocol/errors.ts'

export interface LineWriterOptions {
  /** How much may wait for a reader that does not read. */
  maxPendingBytes: number
  /** The reader has stopped reading, or reads again. */
  onBlocked?(isBlocked: boolean): void
}

/** How long an answer stays behind the last progress of its request: long enough for most readers to read in between. */
const GAP_MS = 3

export class LineWriter {
  readonly #stream: Writable
  readonly #write: Writable['write']
  readonly #options: LineWriterOptions
  #lines = ''
  #isScheduled = false
  #isBlocked = false
  /** Shared by all who wait for the reader: there may be many thousands. */
  #drained: Promise<void> | undefined
  #onDrain: (() => void) | undefined
  /** Tokens of the progress written within the last gap, and within the one before it. */
  #recent = new Set<string>()
  #older = new Set<string>()
  #recentSince = 0
  /** Answers that wait for the gap to pass. */
  readonly #held = new Map<NodeJS.Timeout, string>()
  #heldLength = 0

  /** @param write the stream's own write, where somebody has put another in its place */
  constructor(stream: Writable, options: LineWriterOptions, write: Writable['write'] = stream.write.bind(stream)) {
    this.#stream = stream
    this.#write = write
    this.#options = options
    // Who waits for the reader of a closed stream waits for ever.
    stream.once('close', () => this.#resume())
  }

  get pendingBytes(): number {
    return this.#lines.length + this.#heldLength + this.#stream.writableLength
  }

  /** Resolves when the producer may go on; undefined when it need not wait. Throws ERR_LIMIT when too much is waiting. */
  line(json: string): undefined | Promise<void> {
    this.#check(json)
    if (json.startsWith(PROGRESS)) this.#noteProgress(json)
    this.#put(json)
    if (!this.#isBlocked) return undefined
    this.#drained ??= new Promise((resolve) => {
      this.#onDrain = resolve
    })
    return this.#drained
  }

  /** The same for an answer: one that follows progress of its request leaves a little later. */
  answer(json: string): undefined | Promise<void> {
    if (this.#recent.size + this.#older.size === 0 || !this.#followsProgress(json)) return this.line(json)
    this.#check(json)
    this.#heldLength += json.length
    this.#hold(json)
    return undefined
  }

  /** Resolves when everything written so far has left the process, or cannot any more. */
  async end(): Promise<void> {
    for (const [timer, json] of [...this.#held]) this.#release(timer, json)
    this.#flush()
    if (this.#stream.writableLength === 0) return
    // Not 'drain', which only follows a write that was told to wait. A stream that is destroyed calls back at once, with an error.
    await new Promise<void>((resolve) => {
      this.#write.call(this.#stream, '', 'utf8', () => resolve())
    })
  }

  #check(json: string): void {
    if (!this.#isBlocked || this.pendingBytes + json.length <= this.#options.maxPendingBytes) return
    throw new McpError(
      'ERR_LIMIT',
      `More than ${this.#options.maxPendingBytes} bytes wait for a reader that does not read (maxPendingBytes)`,
    )
  }

  #put(json: string): void {
    this.#lines += `${json}\n`
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#flush())
  }

  #hold(json: string, isSecond = false): void {
    const timer = setTimeout(() => {
      const isLate = this.#isScheduled && !isSecond
      this.#flush()
      if (!isLate) return this.#release(timer, json)
      // The progress left only now, because this process was busy, and the gap begins now.
      this.#held.delete(timer)
      this.#hold(json, true)
    }, GAP_MS)
    this.#held.set(timer, json)
  }

  #release(timer: NodeJS.Timeout, json: string): void {
    clearTimeout(timer)
    this.#held.delete(timer)
    this.#heldLength -= json.length
    this.#put(json)
  }

  #noteProgress(json: string): void {
    const token = TOKEN.exec(json)?.[1]
    if (token === undefined) return
    this.#age()
    this.#recent.add(token)
  }

  #followsProgress(json: string): boolean {
    this.#age()
    const id = ID.exec(json)?.[1]
    return id !== undefined && (this.#recent.has(id) || this.#older.has(id))
  }

  /** Two sets that take turns hold no more than what was written within two gaps. */
  #age(): void {
    const now = performance.now()
    const age = now - this.#recentSince
    if (age < GAP_MS) return
    this.#older = age < 2 * GAP_MS ? this.#recent : new Set()
    this.#recent = new Set()
    this.#recentSince = now
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
    this.#onDrain?.()
    this.#onDrain = undefined
    this.#drained = undefined
  }
}

const PROGRESS = '{"jsonrpc":"2.0","method":"notifications/progress"'
// The token of the official clients is the id of the request, written the same way.
const TOKEN = /"progressToken":("(?:[^"\\]|\\.)*"|-?\d+)/
const ID = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?\d+),/
