/** The open end of a stream of events on Node, and the end of every response. */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { EventSink, Headers, RequestOfReply } from './request-reply.ts'

/** Collects the writes of one turn of the event loop and sends them together. A stream that begins and ends in one turn becomes one response. */
export class NodeEventSink implements EventSink {
  onGone: (() => void) | undefined
  readonly reply: RequestOfReply
  readonly #response: ServerResponse
  readonly #headers: Headers
  readonly #stallMs: number
  #unsent = ''
  #isEnded = false
  #waiting: (() => void)[] | undefined

  constructor(reply: RequestOfReply, response: ServerResponse, headers: Headers, stallMs: number) {
    this.reply = reply
    this.#response = response
    this.#headers = headers
    this.#stallMs = stallMs
  }

  get pending(): number {
    return this.#response.writableLength + this.#unsent.length
  }

  get taken(): number {
    const { socket } = this.#response
    // `bytesWritten` includes bytes that Node still buffers.
    return socket ? socket.bytesWritten - socket.writableLength : 0
  }

  write(text: string): void {
    if (this.#isEnded || this.#response.destroyed) return
    if (this.#unsent === '') process.nextTick(this.#flush)
    this.#unsent += text
  }

  whenDrained(listener: () => void): void {
    const response = this.#response
    if (response.destroyed) return listener()
    if (this.#waiting) return void this.#waiting.push(listener)
    this.#waiting = [listener]
    response.on('drain', this.#relieve)
    response.on('close', this.#relieve)
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const response = this.#response
    const length = Buffer.byteLength(this.#unsent)
    if (!response.headersSent) response.writeHead(200, withLength(length, this.#headers, undefined))
    end(response, this.#unsent, length, this.#stallMs)
    this.#unsent = ''
  }

  destroy(): void {
    this.#isEnded = true
    const response = this.#response
    response.destroy()
    // A response that waits behind another on its connection is closed only when its turn comes. Its owner hears of it now.
    if (!response.socket) this.abandon()
  }

  /** The client is gone. */
  abandon(): void {
    this.#isEnded = true
    if (this.#waiting) this.#relieve()
    this.onGone?.()
  }

  readonly #flush = (): void => {
    const response = this.#response
    if (this.#isEnded || response.destroyed) return
    if (!response.headersSent) response.writeHead(200, this.#headers)
    response.write(this.#unsent)
    this.#unsent = ''
    // Below the high-water mark Node emits no 'drain'.
    if (this.#waiting && !response.writableNeedDrain) this.#relieve()
  }

  readonly #relieve = (): void => {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    this.#response.off('drain', this.#relieve)
    this.#response.off('close', this.#relieve)
    for (const listener of waiting) listener()
  }
}

/**
 * The headers of a complete response. The length comes first: a member that is added to a copy makes the copy, and Node's loop over it,
 * several times as slow.
 */
export const withLength = (length: number, headers: Headers, more: Headers | undefined): Record<string, string | number> => ({
  'content-length': length,
  ...headers,
  ...more,
})

/** A longer text is converted to bytes here, once: the conversion inside the stream is slower. */
const LONG_TEXT = 64 * 1024

/** Ends a response. Node would wait for ever for a client that does not read, so the wait is limited to `stallMs`. */
export function end(response: ServerResponse, text: string | undefined, length: number, stallMs: number): void {
  // As many bytes as characters means ASCII, which is copied and not encoded.
  const encoding = length === text?.length ? 'latin1' : 'utf8'
  if (length > LONG_TEXT) response.end(Buffer.from(text as string, encoding))
  else {
    // Writes the head and the text as one string. `end(text)` adds an empty string as the end, and Node writes two strings with a
    // slower call, which takes a tenth of the time of a small response.
    if (text) {
      response.cork()
      response.write(text, encoding)
      response.uncork()
    }
    response.end()
  }
  // Once the response is flushed, Node restores its own keep-alive timeout.
  if (response.writableLength === 0) return
  if (response.socket) response.socket.setTimeout(stallMs)
  // The response waits behind another on its connection.
  else response.once('socket', (socket: Socket) => socket.setTimeout(stallMs))
}
