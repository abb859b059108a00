/** Reads a stream of server-sent events, within bounds. */

import { EventParser } from './event-parser.ts'
import { limitFault } from './faults.ts'
import type { HttpClientLimits } from './options.ts'

export interface EventReaderOptions {
  /** Names the server in errors. */
  server: string
  limits: HttpClientLimits
  onEvent(name: string, data: string): void
}

/** What a header can carry back to the server; an id is bytes to us. */
const RETURNABLE_ID = /^[^\p{Cc}]{1,1024}$/u
const MAX_RETRY_MS = 2 ** 31 - 1

export class EventReader {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  readonly #parser: EventParser
  readonly #options: EventReaderOptions
  #isOver = false
  /** Where to take the stream up again if it breaks; undefined when it cannot be. */
  lastEventId: string | undefined
  /** How long the server wants to be left alone before that. */
  retryMs: number | undefined
  /** Whether the server said anything but comments. */
  hasSpoken = false

  constructor(options: EventReaderOptions) {
    this.#options = options
    this.#parser = new EventParser({
      maxLength: options.limits.maxEventBytes,
      onEvent: (name, data) => this.#take(name, data),
      onId: (id) => {
        this.hasSpoken = true
        this.lastEventId = RETURNABLE_ID.test(id) ? id : undefined
      },
      onRetry: (ms) => {
        this.hasSpoken = true
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

  /** Nothing more of it is wanted, not even of what has come already. */
  stop(): void {
    this.#isOver = true
    this.#parser.stop()
  }

  #take(name: string, data: string): void {
    this.hasSpoken = true
    // Servers send empty data to give an id to come back with: that is no message.
    if (data !== '') this.#options.onEvent(name, data)
  }

  #tooLong(): Error {
    const { server, limits } = this.#options
    return limitFault(server, `an event of more than ${limits.maxEventBytes} characters`, 'maxEventBytes')
  }
}

/** An event id as a header carries it: its bytes, each as one character. */
export const idHeader = (id: string): string => Buffer.from(id, 'utf8').toString('latin1')
