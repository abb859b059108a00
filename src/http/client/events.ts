/** Reads a stream of server-sent events, within bounds. */

import { createParser, type EventSourceMessage } from 'eventsource-parser'
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
  readonly #decoder = new TextDecoder()
  readonly #feed: (text: string) => void
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
    const parser = createParser({
      maxBufferSize: options.limits.maxEventBytes,
      onEvent: (event) => this.#take(event),
      onRetry: (ms) => {
        this.hasSpoken = true
        this.retryMs = Math.min(ms, MAX_RETRY_MS)
      },
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') throw this.#tooLong()
      },
    })
    this.#feed = parser.feed
  }

  /** Throws ERR_LIMIT when an event is too long. */
  push(chunk: Uint8Array): void {
    if (!this.#isOver) this.#feed(this.#decoder.decode(chunk, { stream: true }))
  }

  /** Nothing more of it is wanted, not even of what has come already. */
  stop(): void {
    this.#isOver = true
  }

  #take({ event = 'message', id, data }: EventSourceMessage): void {
    if (this.#isOver) return
    this.hasSpoken = true
    if (data.length > this.#options.limits.maxEventBytes) throw this.#tooLong()
    if (id !== undefined) this.lastEventId = RETURNABLE_ID.test(id) ? id : undefined
    // An event without data only gives its id, to come back with.
    if (data !== '') this.#options.onEvent(event, data)
  }

  #tooLong(): Error {
    const { server, limits } = this.#options
    return limitFault(server, `an event of more than ${limits.maxEventBytes} characters`, 'maxEventBytes')
  }
}

/** An event id as a header carries it: its bytes, each as one character. */
export const idHeader = (id: string): string => Buffer.from(id, 'utf8').toString('latin1')
