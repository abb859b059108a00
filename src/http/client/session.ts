/** The session that the server keeps for this client: its id, the stream of messages that belong to no call, and its end. */

import type { IncomingHttpHeaders } from 'node:http'
import { systemClock } from '../../base/clock.ts'
import type { McpError } from '../../protocol/errors.ts'
import { answerFault } from './errors.ts'
import { deleteHeaders, getHeaders, type SessionHeaders } from './headers.ts'
import type { HttpConnection, ResponseHandler } from './http-request.ts'
import { ReopenedStream } from './reopened-stream.ts'

export interface RemoteSessionOptions {
  /** A message came that belongs to no call. */
  onMessage(data: string): void
  /** The server no longer knows the session. Called every time it says so. */
  onForgotten(): void
  /** Messages that belong to no call may have been missed. */
  onMissed(): void
  onWarning(message: string): void
}

/** How long the first messages of a session wait until the stream is open, because the server may react to them there. */
const STREAM_HEAD_START_MS = 500
/** How long to wait for the response to the DELETE that ends the session. */
const GOODBYE_MS = 2000
const VISIBLE_ASCII = /^[!-~]{1,4096}$/
/** The statuses with which a server says that it has no such stream. */
const NO_STREAM = new Set([400, 404, 405])

export class RemoteSession {
  readonly #connection: HttpConnection
  readonly #options: RemoteSessionOptions
  #id: string | undefined
  #isForgotten = false
  #stream: ReopenedStream | undefined
  /** Whether the stream was ever open. */
  #wasOpen = false
  /** Messages that wait until the session is ready; undefined when it is. */
  #held: (() => void)[] | undefined
  version: string | undefined

  constructor(connection: HttpConnection, options: RemoteSessionOptions) {
    this.#connection = connection
    this.#options = options
  }

  get hasId(): boolean {
    return this.#id !== undefined
  }

  get headers(): SessionHeaders {
    return { id: this.#id, version: this.version }
  }

  /** Takes the id from the response that opened the session. Returns an error when the id is invalid. */
  take(headers: IncomingHttpHeaders): McpError | undefined {
    const id: unknown = headers['mcp-session-id']
    if (id === undefined) return undefined
    if (typeof id !== 'string' || !VISIBLE_ASCII.test(id))
      return answerFault(this.#connection.server, 'initialize', 'an id of visible ASCII characters', 'an invalid session id')
    this.#id = id
    return undefined
  }

  /** Calls `run` when the session is ready, usually at once. */
  whenReady(run: () => void): void {
    if (this.#held) this.#held.push(run)
    else run()
  }

  /** Holds messages back until the server has accepted the last message of the handshake. */
  hold(): void {
    this.#held ??= []
  }

  /** The server has accepted the handshake: opens the stream, and sends the waiting messages when it is open. */
  begin(): void {
    const { onMessage, onMissed, onWarning } = this.#options
    this.#stream = new ReopenedStream(this.#connection, {
      headers: (lastEventId) => getHeaders(this.headers, lastEventId),
      // As long as the session exists, the stream can be reopened.
      maxFruitless: Number.POSITIVE_INFINITY,
      onEvent: (name, data) => {
        if (name === 'message') onMessage(data)
      },
      onGap: () => {
        onWarning('Some messages of the server were missed: it no longer has the events since the last one received')
        onMissed()
      },
      onSettled: () => {
        // Others did not wait for this stream any longer.
        if (this.#stream?.wasOpen && !this.#wasOpen && !this.#held) onMissed()
        this.#wasOpen ||= this.#stream?.wasOpen === true
        this.release()
      },
      onOver: (error, status) => this.#onStreamOver(error, status),
    })
    systemClock.after(STREAM_HEAD_START_MS, () => this.release())
    this.#stream.open()
  }

  release(): void {
    const held = this.#held
    this.#held = undefined
    for (const run of held ?? []) run()
  }

  forget(): void {
    this.#isForgotten = true
    this.#stream?.abort()
    this.#options.onForgotten()
  }

  /** Tells the server that the session is over. The response does not matter. */
  async end(): Promise<void> {
    this.#held = undefined
    this.#stream?.abort()
    if (this.#id === undefined || this.#isForgotten) return
    const { url } = this.#connection
    await new Promise<void>((resolve) => {
      const timer = systemClock.after(GOODBYE_MS, resolve)
      timer.hold(true)
      const done = (): void => {
        timer.cancel()
        resolve()
      }
      const handler: ResponseHandler = { onHead: done, onData: () => {}, onEnd: () => {}, onFail: done }
      this.#connection.send({ method: 'DELETE', url, headers: deleteHeaders(this.headers) }, handler)
    })
  }

  #onStreamOver(error: McpError, status: number | undefined): void {
    if (status === 404 && this.hasId && this.#stream?.wasOpen) return this.forget()
    if (status !== undefined && NO_STREAM.has(status) && !this.#stream?.wasOpen) return
    this.#options.onWarning(`Messages that the server sends outside of calls are no longer received: ${error.message}`)
  }
}
