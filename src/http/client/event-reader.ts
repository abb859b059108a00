/** Reads a stream of server-sent events from bytes, and remembers how to resume it. */

import { limitFault } from './errors.ts'
import { EventParser } from './event-parser.ts'
import type { HttpClientLimits } from './options.ts'

export interface EventReaderOptions {
  /** Names the server in errors. */
  server: string
  limits: HttpClientLimits
  onEvent(name: string, data: string): void
}

/** The ids that a header can carry back to the server. */
const RETURNABLE_ID = /^[^\p{Cc}]{1,1024}$/u
const MAX_RETRY_MS = 2 ** 31 - 1

export class EventReader {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  readonly #parser: EventParser
  readonly #options: EventReaderOptions
  #isOver = false
  /** The event after which the stream can be resumed; undefined when it cannot. */
  lastEventId: string | undefined
  /** How long the server asks clients to wait before they reconnect. */
  retryMs: number | undefined
  /** Whether anything but comments came. */
  hasContent = false

  constructor(options: EventReaderOptions) {
    this.#options = options
    this.#parser = new EventParser({
      maxLength: options.limits.maxBodyBytes,
      onEvent: (name, data) => this.#take(name, data),
      onId: (id) => {
        this.hasContent = true
        this.lastEventId = RETURNABLE_ID.test(id) ? id : undefined
      },
      onRetry: (ms) => {
        this.hasContent = true
        this.retryMs = Math.min(ms, MAX_RETRY_MS)
      },
      onTooLong: () => {
        throw this.#tooLong()
      },
    })
  }

  /** Throws ERR_LIMIT when an event is too long. */
  push(chunk: Uint8Array): void {
    if (!this.#isOver) this.#parser.push(this.#decoder.decode(chunk, { stream: true }))
  }

  /** Drops everything that has not been delivered yet. */
  stop(): void {
    this.#isOver = true
    this.#parser.stop()
  }

  #take(name: string, data: string): void {
    this.hasContent = true
    // An event with empty data only carries an id for resuming. It is not a message.
    if (data !== '') this.#options.onEvent(name, data)
  }

  #tooLong(): Error {
    const { server, limits } = this.#options
    return limitFault(server, `an event of more than ${limits.maxBodyBytes} characters`, 'maxBodyBytes')
  }
}

/** An event id as a header carries it: one character for each byte. */
export const idHeader = (id: string): string => String.fromCharCode(...new TextEncoder().encode(id))
