/** A stream of events that is got by GET, and got again where it left off whenever it breaks. */

import type { IncomingHttpHeaders } from 'node:http'
import { systemClock, type Timer } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import { EventReader, idHeader } from './event-reader.ts'
import { answerFault } from './faults.ts'
import type { HttpClientLimits } from './options.ts'
import { mediaTypeOf } from './match-answer.ts'
import { retryAfterIn, statusName } from './classify-refusal.ts'
import type { ResponseHandler, HttpRequest, Sending } from './sender.ts'

export interface StreamOptions {
  /** Names the server in errors. */
  server: string
  url: URL
  limits: HttpClientLimits
  send(request: HttpRequest, reply: ResponseHandler): Sending
  headers(lastEventId: string | undefined): string[]
  /** Attempts in a row that may bring nothing. */
  maxFruitless: number
  onEvent(name: string, data: string): void
  /** The server no longer has what came after the last event; given where the stream is worth having all the same. */
  onGap?(): void
  /** The first attempt has been answered, one way or another. */
  onSettled?(): void
  /** It is over for good. The status says which refusal it was; there is none when the attempts are used up. */
  onOver(error: McpError, status: number | undefined): void
}

const FIRST_WAIT_MS = 200
const MAX_WAIT_MS = 30_000
/** Refusals that may pass; 409 until the server has noticed that the connection before is dead. */
const PASSING = new Set([408, 409, 425, 429])

export class ReopenedStream implements ResponseHandler, Sending {
  readonly #options: StreamOptions
  #sending: Sending | undefined
  #reader: EventReader | undefined
  #timer: Timer | undefined
  #lastEventId: string | undefined
  #retryMs: number | undefined
  /** How long the last refusal asked us to stay away. */
  #busyMs = 0
  #fruitless = 0
  #isOver = false
  /** Whether the server ever gave it. */
  wasOpen = false

  constructor(options: StreamOptions, lastEventId?: string, retryMs?: number) {
    this.#options = options
    this.#lastEventId = lastEventId
    this.#retryMs = retryMs
  }

  open(): void {
    const { send, url, headers } = this.#options
    const id = this.#lastEventId === undefined ? undefined : idHeader(this.#lastEventId)
    this.#sending = send({ method: 'GET', url, headers: headers(id) }, this)
  }

  /** Opens it when the server wants it to be, and somewhat later if that did not help before. */
  openLater(): void {
    const backOffMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#fruitless)
    // Many clients that lost the same server do not come back as one.
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
    const { server, limits, onEvent, onGap } = this.#options
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
    if (status >= 500 || PASSING.has(status)) return this.#onBroken(this.#statusFault(status))
    if (onGap && this.#lastEventId !== undefined && status >= 400 && status !== 404) {
      this.#lastEventId = undefined
      onGap()
      return this.#onBroken(this.#statusFault(status))
    }
    const fault = status < 300 ? answerFault(server, 'GET', 'text/event-stream', type || 'nothing') : this.#statusFault(status)
    this.#end(fault, status)
  }

  onData(chunk: Buffer): void {
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
    this.#fruitless = reader?.hasSpoken ? 0 : this.#fruitless + 1
    if (this.#fruitless <= this.#options.maxFruitless) return this.openLater()
    const { server, maxFruitless } = this.#options
    const tried = `it could not be taken up again in ${maxFruitless} attempts (limits.maxReconnects)`
    this.#end(new McpError('ERR_CLOSED', `${server}: ${cause?.message ?? 'the stream ended'}; ${tried}`, { cause }), undefined)
  }

  #end(error: McpError, status: number | undefined): void {
    if (this.#isOver) return
    this.abort()
    this.#options.onSettled?.()
    this.#options.onOver(error, status)
  }

  #statusFault(status: number): McpError {
    return new McpError('ERR_HTTP', `${this.#options.server} answered GET with HTTP ${statusName(status)}`, { data: { status } })
  }
}
