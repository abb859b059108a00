/** Reads the body of a web-standard request, bounded in size and in how slowly it may come. */

import { GatheredBytes } from '../../../base/gathered-bytes.ts'
import type { BodyBounds, BodyFault, BodyRoom, OnBody } from './request-reply.ts'

const encoder = new TextEncoder()
// Keeps a byte order mark, so that the JSON parser refuses it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

type Read = Awaited<ReturnType<ReadableStreamDefaultReader<unknown>['read']>>

/** Reads piece by piece with callbacks: a loop with `await` would keep memory for each piece that came. */
export class WebBody {
  readonly #reader: ReadableStreamDefaultReader<unknown>
  readonly #bounds: BodyBounds
  readonly #room: BodyRoom
  readonly #done: OnBody
  readonly #bytes = new GatheredBytes()
  #checkedAt = 0
  #checkedSize = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false

  constructor(reader: ReadableStreamDefaultReader<unknown>, bounds: BodyBounds, room: BodyRoom, done: OnBody) {
    this.#reader = reader
    this.#bounds = bounds
    this.#room = room
    this.#done = done
    this.#watchPace()
    this.#next()
  }

  #next(): void {
    this.#reader.read().then(this.#onRead, this.#onError)
  }

  readonly #onRead = ({ done, value }: Read): void => {
    if (this.#isOver) return
    if (done) return this.#onEnd()
    const piece = bytesOf(value)
    if (!piece) return this.#fail('unreadable')
    if (this.#bytes.size + piece.length > this.#bounds.maxBodyBytes) return this.#fail('too-large')
    if (!this.#room.grow(piece.length)) return this.#fail('no-room')
    this.#bytes.add(piece)
    this.#next()
  }

  readonly #onError = (): void => this.#settle(undefined, 'gone')

  #onEnd(): void {
    const text = decode(this.#bytes.all)
    this.#settle(text, text === undefined ? 'not-utf8' : undefined)
  }

  #watchPace(): void {
    this.#checkedAt = performance.now()
    this.#checkedSize = this.#bytes.size
    this.#timer = setTimeout(() => this.#checkPace(), this.#bounds.bodyGraceMs)
  }

  /** Counts only what came since the last check: a fast start does not excuse a slow rest. */
  #checkPace(): void {
    const seconds = (performance.now() - this.#checkedAt) / 1000
    if (this.#bytes.size - this.#checkedSize < seconds * this.#bounds.minBodyRate) this.#fail('too-slow')
    else this.#watchPace()
  }

  #fail(fault: BodyFault): void {
    this.#reader.cancel().catch(() => {})
    this.#settle(undefined, fault)
  }

  #settle(text: string | undefined, fault: BodyFault | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#done(text, fault)
  }
}

/** The program may have made the body itself, of anything. Undefined for what has no bytes. */
function bytesOf(value: unknown): Uint8Array | undefined {
  if (typeof value === 'string') return encoder.encode(value)
  if (!ArrayBuffer.isView(value)) return undefined
  const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  // Some runtimes read into a large buffer and give the part that was filled, which would keep all of it.
  return bytes.length < value.buffer.byteLength / 4 ? bytes.slice() : bytes
}

/** Undefined for bytes that are not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
