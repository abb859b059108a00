/** Reads the body of a request on Node, bounded in size and in how slowly it may come. */

import type { IncomingMessage } from 'node:http'
import { GatheredBytes } from '../../../base/gathered-bytes.ts'
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
  readonly #bytes = new GatheredBytes()
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
    this.#bytes.clear()
    this.#request.off('data', this.#onData)
    this.#request.off('end', this.#onEnd)
  }

  /** Watches the pace of a body that has not begun. */
  watchIfAbsent(): void {
    if (this.#bytes.size === 0 && !this.#isOver) this.#watchPace()
  }

  readonly #onData = (given: Buffer | string): void => {
    if (this.#isOver) return
    // Middleware may have set an encoding.
    const chunk = typeof given === 'string' ? Buffer.from(given, this.#request.readableEncoding ?? 'utf8') : given
    const before = this.#bytes.size
    const size = before + chunk.length
    if (size > this.#bounds.maxBodyBytes) return this.#settle(undefined, 'too-large')
    const isComplete = size >= this.#announced
    // A body in one piece is counted when it is parsed, in the same turn.
    if (!(isComplete && before === 0) && !this.#room.grow(chunk.length)) return this.#settle(undefined, 'no-room')
    this.#bytes.add(chunk)
    // Nearly every body comes in one piece and needs no timer.
    if (this.#timer === undefined && !isComplete) this.#watchPace()
  }

  readonly #onEnd = (): void => {
    if (this.#isOver) return
    const text = decodeUtf8(this.#bytes.all)
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
    const { size } = this.#bytes
    if (size - this.#checkedSize < seconds * this.#bounds.minBodyRate) return this.#settle(undefined, 'too-slow')
    this.#checkedAt = now
    this.#checkedSize = size
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
function decodeUtf8(bytes: Uint8Array): string | undefined {
  // The native conversion is fastest for nearly every message. The decoder tells invalid bytes from a real U+FFFD.
  const text = (bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)).toString('utf8')
  if (!text.includes('\ufffd')) return text
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
