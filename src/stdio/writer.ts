/**
 * Writes lines: those of one turn of the event loop leave in one write. The exception is an answer right after progress of
 * the same request. The official clients deliver progress one turn later than an answer, and drop it once the request is
 * answered. Progress that arrives in one chunk with the answer would be lost.
 */

import type { Writable } from 'node:stream'
import { McpError } from '../protocol/errors.ts'

export interface LineWriterOptions {
  /** Bytes that may wait for a reader that does not read. */
  maxPendingBytes: number
  /** The reader has stopped reading, or reads again. */
  onBlocked?(isBlocked: boolean): void
}

/** The delay of an answer after the last progress of its request. Most readers read in between. */
const GAP_MS = 3

export class LineWriter {
  readonly #stream: Writable
  readonly #write: Writable['write']
  readonly #options: LineWriterOptions
  #lines = ''
  #isScheduled = false
  #isBlocked = false
  /** One promise for all writers that wait, because there may be many thousands. */
  #drained: Promise<void> | undefined
  #onDrain: (() => void) | undefined
  /** Tokens of the progress written within the last GAP_MS. */
  #recent = new Set<string>()
  /** The same for the GAP_MS before. */
  #older = new Set<string>()
  #recentSince = 0
  /** Answers that are delayed. */
  readonly #held = new Map<NodeJS.Timeout, string>()
  #heldLength = 0

  /** @param write the original write of the stream, if it was replaced */
  constructor(stream: Writable, options: LineWriterOptions, write: Writable['write'] = stream.write.bind(stream)) {
    this.#stream = stream
    this.#write = write
    this.#options = options
    // A closed stream emits no 'drain', so the waiting writers are released here.
    stream.once('close', () => this.#resume())
  }

  get pendingBytes(): number {
    return this.#lines.length + this.#heldLength + this.#stream.writableLength
  }

  /** Returns a promise when the caller should wait for the reader. Throws ERR_LIMIT when too much is waiting. */
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

  /** The same for an answer, which is delayed when it follows progress of its request. */
  answer(json: string): undefined | Promise<void> {
    if (this.#recent.size + this.#older.size === 0 || !this.#followsProgress(json)) return this.line(json)
    this.#check(json)
    this.#heldLength += json.length
    this.#hold(json)
    return undefined
  }

  /** Resolves when everything has left the process, or the stream is destroyed. */
  async end(): Promise<void> {
    for (const [timer, json] of [...this.#held]) this.#release(timer, json)
    this.#flush()
    if (this.#stream.writableLength === 0) return
    // Not 'drain', which only follows a blocked write. A destroyed stream calls back at once, with an error.
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
      // The progress left only now, because this process was busy. The delay starts again.
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

  /** Rotates the two sets, so that they hold only the last two gaps. */
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
// The official clients use the request id as the progress token.
const TOKEN = /"progressToken":("(?:[^"\\]|\\.)*"|-?\d+)/
const ID = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?\d+),/
