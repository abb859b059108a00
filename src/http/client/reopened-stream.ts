/** A stream of events that is opened by GET, and reopened after the last event whenever it breaks. */

import type { IncomingHttpHeaders } from 'node:http'
import { systemClock, type Timer } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import { retryAfterIn, statusName } from './classify-refusal.ts'
import { answerFault } from './errors.ts'
import { EventReader, idHeader } from './event-reader.ts'
import { mediaTypeOf } from './headers.ts'
import type { HttpConnection, ResponseHandler, Sending } from './http-request.ts'

export interface StreamOptions {
  headers(lastEventId: string | undefined): string[]
  /** How many attempts in a row may bring no event. */
  maxFruitless: number
  onEvent(name: string, data: string): void
  /** Called when the server no longer has the missed events. Set it only if the stream is still useful without them. */
  onGap?(): void
  /** Called when the first attempt has succeeded or failed. */
  onSettled?(): void
  /** Called when the stream is over and will not be reopened. `status` is undefined when the attempts are used up. */
  onOver(error: McpError, status: number | undefined): void
}

const FIRST_WAIT_MS = 200
const MAX_WAIT_MS = 30_000
/** Refusals worth another attempt. A server answers 409 until it notices that the previous connection is dead. */
const TEMPORARY = new Set([408, 409, 425, 429])

export class ReopenedStream implements ResponseHandler, Sending {
  readonly #connection: HttpConnection
  readonly #options: StreamOptions
  #sending: Sending | undefined
  #reader: EventReader | undefined
  #timer: Timer | undefined
  #lastEventId: string | undefined
  #retryMs: number | undefined
  /** The Retry-After of the last refusal. */
  #busyMs = 0
  #fruitless = 0
  #isOver = false
  /** Whether the server ever opened it. */
  wasOpen = false

  constructor(connection: HttpConnection, options: StreamOptions, lastEventId?: string, retryMs?: number) {
    this.#connection = connection
    this.#options = options
    this.#lastEventId = lastEventId
    this.#retryMs = retryMs
  }

  open(): void {
    const id = this.#lastEventId === undefined ? undefined : idHeader(this.#lastEventId)
    this.#sending = this.#connection.send({ method: 'GET', url: this.#connection.url, headers: this.#options.headers(id) }, this)
  }

  /** Opens it after the time that the server asked for, or after a pause that doubles with each attempt without an event. */
  openLater(): void {
    const backOffMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#fruitless)
    // Spread out, because many clients may have lost the same server at the same moment.
    const waitMs = Math.max(this.#retryMs ?? 0, this.#busyMs, backOffMs * (0.5 + Math.random() / 2)) * (1 + Math.random() / 10)
    this.#busyMs = 0
    this.#timer = systemClock.after(waitMs, () => {
      if (!this.#isOver) this.open()
    })
  }

  abort(): void {
    this.#isOver = true
    this.#timer?.cancel()
    this.#sending?.abort()
    this.#reader?.stop()
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    const { server, limits } = this.#connection
    const { onEvent, onGap } = this.#options
    const type = mediaTypeOf(headers['content-type'])
    if (status === 200 && type === 'text/event-stream') {
      this.wasOpen = true
      this.#reader = new EventReader({ server, limits, onEvent })
      this.#reader.lastEventId = this.#lastEventId
      this.#options.onSettled?.()
      return
    }
    this.#sending?.abort()
    this.#busyMs = retryAfterIn(headers['retry-after']) ?? 0
    if (status >= 500 || TEMPORARY.has(status)) return this.#onBroken(this.#statusFault(status))
    if (onGap && this.#lastEventId !== undefined && status >= 400 && status !== 404) {
      this.#lastEventId = undefined
      onGap()
      return this.#onBroken(this.#statusFault(status))
    }
    const fault = status < 300 ? answerFault(server, 'GET', 'text/event-stream', type || 'no content type') : this.#statusFault(status)
    this.#end(fault, status)
  }

  onData(chunk: Uint8Array): void {
    try {
      this.#reader?.push(chunk)
    } catch (error) {
      this.#end(error as McpError, undefined)
    }
  }

  onEnd(): void {
    this.#onBroken(undefined)
  }

  onFail(error: McpError): void {
    if (error.code === 'ERR_NETWORK' || error.code === 'ERR_TIMEOUT') this.#onBroken(error)
    else this.#end(error, undefined)
  }

  #onBroken(cause: McpError | undefined): void {
    if (this.#isOver) return
    const reader = this.#reader
    this.#reader = undefined
    if (reader) {
      this.#lastEventId = reader.lastEventId
      this.#retryMs = reader.retryMs ?? this.#retryMs
    }
    this.#options.onSettled?.()
    this.#fruitless = reader?.hasContent ? 0 : this.#fruitless + 1
    if (this.#fruitless <= this.#options.maxFruitless) return this.openLater()
    const tried = `it could not be reopened in ${this.#options.maxFruitless} attempts`
    this.#end(
      new McpError('ERR_CLOSED', `${this.#connection.server}: ${cause?.message ?? 'the stream ended'}; ${tried}`, { cause }),
      undefined,
    )
  }

  #end(error: McpError, status: number | undefined): void {
    if (this.#isOver) return
    this.abort()
    this.#options.onSettled?.()
    this.#options.onOver(error, status)
  }

  #statusFault(status: number): McpError {
    return new McpError('ERR_HTTP', `${this.#connection.server} answered GET with HTTP ${statusName(status)}`, { data: { status } })
  }
}
