/** The session that a server keeps for us: its id, the stream of what the server says unasked, and its end. */

import type { IncomingHttpHeaders } from 'node:http'
import { systemClock } from '../../base/clock.ts'
import type { McpError } from '../../protocol/errors.ts'
import { answerFault } from './faults.ts'
import { deleteHeaders, getHeaders, type SessionHeaders } from './headers.ts'
import type { HttpClientLimits } from './options.ts'
import type { ResponseHandler, HttpRequest, Sending } from './sender.ts'
import { ReopenedStream } from './reopened-stream.ts'

export interface SessionOptions {
  /** Names the server in errors. */
  server: string
  url: URL
  limits: HttpClientLimits
  send(request: HttpRequest, reply: ResponseHandler): Sending
  /** A message came that belongs to no request. */
  onMessage(data: string): void
  /** The server no longer knows the session; called whenever it says so. */
  onForgotten(): void
  onWarning(message: string): void
}

/** How long the first messages of a session wait for the stream on which the server may answer to them. */
const STREAM_HEAD_START_MS = 500
const GOODBYE_MS = 2000
const VISIBLE_ASCII = /^[!-~]{1,4096}$/
/** What a server without such a stream answers to a request for it. */
const NO_STREAM = new Set([400, 404, 405])

export class RemoteSession {
  readonly #options: SessionOptions
  #id: string | undefined
  #isForgotten = false
  #stream: ReopenedStream | undefined
  /** Messages held back until the session is ready; undefined when it is. */
  #held: (() => void)[] | undefined
  version: string | undefined

  constructor(options: SessionOptions) {
    this.#options = options
  }

  get hasId(): boolean {
    return this.#id !== undefined
  }

  get headers(): SessionHeaders {
    return { id: this.#id, version: this.version }
  }

  /** Takes the id from the response that opened the session; says what is wrong with it, if something is. */
  take(headers: IncomingHttpHeaders): McpError | undefined {
    const id: unknown = headers['mcp-session-id']
    if (id === undefined) return undefined
    if (typeof id !== 'string' || !VISIBLE_ASCII.test(id))
      return answerFault(this.#options.server, 'initialize', 'one of visible ASCII characters', 'a session id that is none')
    this.#id = id
    return undefined
  }

  /** Runs `run` when the session is ready, which mostly is now. */
  whenReady(run: () => void): void {
    if (this.#held) this.#held.push(run)
    else run()
  }

  /** The handshake is about to be confirmed. What is sent from now on must not arrive before that. */
  hold(): void {
    this.#held ??= []
  }

  /** The server has accepted the confirmation: it may speak unasked from now on, and whoever was held back may speak too. */
  begin(): void {
    const { server, url, limits, send, onMessage, onWarning } = this.#options
    this.#stream = new ReopenedStream({
      server,
      url,
      limits,
      send,
      headers: (lastEventId) => getHeaders(this.headers, lastEventId),
      // As long as the session lasts there is a point in trying.
      maxFruitless: Number.POSITIVE_INFINITY,
      onEvent: (name, data) => {
        if (name === 'message') onMessage(data)
      },
      onGap: () => onWarning('Some of what the server said unasked was missed: it no longer has it'),
      onSettled: () => this.release(),
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

  /** Tells the server that the session is no longer needed. Whether it likes to know does not matter. */
  async end(): Promise<void> {
    this.#held = undefined
    this.#stream?.abort()
    if (this.#id === undefined || this.#isForgotten) return
    const { url, send } = this.#options
    await new Promise<void>((resolve) => {
      const timer = systemClock.after(GOODBYE_MS, resolve)
      timer.hold(true)
      const done = (): void => {
        timer.cancel()
        resolve()
      }
      const reply: ResponseHandler = { onHead: done, onData: () => {}, onEnd: () => {}, onFail: done }
      send({ method: 'DELETE', url, headers: deleteHeaders(this.headers) }, reply)
    })
  }

  #onStreamOver(error: McpError, status: number | undefined): void {
    if (status === 404 && this.hasId && this.#stream?.wasOpen) return this.forget()
    if (status !== undefined && NO_STREAM.has(status) && !this.#stream?.wasOpen) return
    this.#options.onWarning(`What the server says unasked is no longer heard: ${error.message}`)
  }
}
