/** Reads the body of a request on Node, bounded in size and in how slowly it may come. */

import type { IncomingMessage } from 'node:http'
import type { BodyBounds, BodyFault, BodyRoom, OnBody } from './request-reply.ts'

// Keeps a byte order mark, so that the JSON parser refuses it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export class NodeBody {
  readonly #request: IncomingMessage
  readonly #bounds: BodyBounds
  readonly #room: BodyRoom
  /** The size that the headers announce; NaN for none. */
  readonly #announced: number
  readonly #done: OnBody
  #first: Buffer | undefined
  #more: Buffer[] | undefined
  #size = 0
  #checkedAt = 0
  #checkedSize = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false

  constructor(request: IncomingMessage, bounds: BodyBounds, room: BodyRoom, done: OnBody) {
    this.#request = request
    this.#bounds = bounds
    this.#room = room
    this.#announced = Number(request.headers['content-length'])
    this.#done = done
    request.on('data', this.#onData)
    request.on('end', this.#onEnd)
    process.nextTick(watchIfAbsent, this)
  }

  onGone(): void {
    this.#settle(undefined, 'gone')
  }

  /** Drops the bytes of the body, because a stream may stay open for a long time. */
  forget(): void {
    this.#first = undefined
    this.#more = undefined
    this.#request.off('data', this.#onData)
    this.#request.off('end', this.#onEnd)
  }

  /** Watches the pace of a body that has not begun. */
  watchIfAbsent(): void {
    if (!this.#first && !this.#isOver) this.#watchPace()
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isOver) return
    this.#size += chunk.length
    if (this.#size > this.#bounds.maxBodyBytes) return this.#settle(undefined, 'too-large')
    const isComplete = this.#size >= this.#announced
    // A body in one piece is counted when it is parsed, in the same turn.
    if (!(isComplete && !this.#first) && !this.#room.grow(chunk.length)) return this.#settle(undefined, 'no-room')
    if (!this.#first) this.#first = chunk
    else if (this.#more) this.#more.push(chunk)
    else this.#more = [this.#first, chunk]
    // Nearly every body comes in one piece and needs no timer.
    if (this.#timer === undefined && !isComplete) this.#watchPace()
  }

  readonly #onEnd = (): void => {
    if (this.#isOver) return
    const bytes = this.#more ? Buffer.concat(this.#more, this.#size) : this.#first
    const text = bytes ? decodeUtf8(bytes) : ''
    this.#settle(text, text === undefined ? 'not-utf8' : undefined)
  }

  #watchPace(): void {
    this.#checkedAt = performance.now()
    this.#timer = setTimeout(() => this.#checkPace(), this.#bounds.bodyGraceMs)
  }

  /** Counts only what came since the last check: a fast start does not excuse a slow rest. */
  #checkPace(): void {
    const now = performance.now()
    const seconds = (now - this.#checkedAt) / 1000
    if (this.#size - this.#checkedSize < seconds * this.#bounds.minBodyRate) return this.#settle(undefined, 'too-slow')
    this.#checkedAt = now
    this.#checkedSize = this.#size
    this.#timer = setTimeout(() => this.#checkPace(), this.#bounds.bodyGraceMs)
  }

  #settle(text: string | undefined, fault: BodyFault | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#done(text, fault)
  }
}

/** Runs when the part of the body that came together with the head has been read. */
const watchIfAbsent = (body: NodeBody): void => body.watchIfAbsent()

/** Undefined for bytes that are not UTF-8. */
function decodeUtf8(bytes: Buffer): string | undefined {
  // The native conversion is fastest for nearly every message. The decoder tells invalid bytes from a real U+FFFD.
  const text = bytes.toString('utf8')
  if (!text.includes('\ufffd')) return text
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
