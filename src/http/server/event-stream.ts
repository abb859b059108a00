/** One resumable stream of events: what was said, under which ids, and whoever listens now. */

import type { Sink } from './ask.ts'
import type { OpenStreams } from './open-streams.ts'
import type { HttpLimits } from './options.ts'

export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

export const eventText = (json: string, id: string | undefined): string =>
  id === undefined ? `event: message\ndata: ${json}\n\n` : `event: message\nid: ${id}\ndata: ${json}\n\n`

/** Where in a stream a client left off, as its last event id says. */
export interface Place {
  stream: number
  sequence: number
}

export class EventStream {
  readonly number: number
  readonly #prefix: string
  readonly #limits: HttpLimits
  readonly #open: OpenStreams
  /** The events from `#firstKept` on. */
  #kept: string[] = []
  #keptBytes = 0
  #firstKept = 1
  #sink: Sink | undefined
  #isOver = false
  /** When the stream ended or its reader went away; what is kept is forgotten some time after. */
  unattendedSince: number | undefined

  /** @param prefix begins every event id; only this session has it */
  constructor(number: number, prefix: string, limits: HttpLimits, open: OpenStreams) {
    this.number = number
    this.#prefix = `${prefix}.${number}.`
    this.#limits = limits
    this.#open = open
  }

  get isConnected(): boolean {
    return this.#sink !== undefined
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get hasEvents(): boolean {
    return this.#kept.length > 0
  }

  /** Why a client cannot go on after event `sequence`; undefined when it can. */
  faultOf(sequence: number): string | undefined {
    if (sequence >= this.#firstKept + this.#kept.length) return 'The last event id names an event that was never sent'
    if (sequence < this.#firstKept - 1) return 'Events after that id are no longer kept'
    return undefined
  }

  /**
   * Gives the stream a reader, in place of the one before.
   * @param after the last event it has seen
   * @param isPrimed begins with an event that says nothing but its id, so that the reader has one to come back with
   */
  connect(sink: Sink, after: number, isPrimed: boolean, onTooOld: (() => void) | undefined, onGone: () => void): void {
    this.#sink?.end()
    if (this.#sink) this.#open.remove(this.#sink)
    this.#sink = sink
    this.unattendedSince = undefined
    sink.onGone = () => {
      this.#open.remove(sink)
      if (this.#sink !== sink) return
      this.#sink = undefined
      onGone()
    }
    this.#open.add({ sink, onTooOld })
    if (isPrimed) sink.write(`id: ${this.#prefix}${after}\nretry: ${this.#limits.retryMs}\ndata:\n\n`)
    for (let i = Math.max(0, after + 1 - this.#firstKept); i < this.#kept.length; i++) sink.write(this.#kept[i] as string)
    if (this.#isOver) this.#hangUp()
  }

  push(json: string): undefined | Promise<void> {
    if (this.#isOver) return undefined
    const text = eventText(json, `${this.#prefix}${this.#firstKept + this.#kept.length}`)
    this.#keep(text)
    return this.#sink ? this.#open.write(this.#sink, text) : undefined
  }

  /** The last event of the stream. */
  finish(json: string | undefined): void {
    if (json !== undefined) void this.push(json)
    this.#isOver = true
    this.#hangUp()
  }

  /** Breaks the connection off, not the stream: the reader comes back for the rest. */
  release(): void {
    const sink = this.#sink
    if (!sink) return
    sink.write(`retry: ${this.#limits.retryMs}\n\n`)
    this.#hangUp()
  }

  #hangUp(): void {
    const sink = this.#sink
    if (!sink) return
    this.#sink = undefined
    this.#open.remove(sink)
    sink.end()
  }

  #keep(text: string): void {
    this.#kept.push(text)
    this.#keptBytes += text.length
    while (this.#kept.length > this.#limits.maxEvents || (this.#keptBytes > this.#limits.maxEventBytes && this.#kept.length > 1)) {
      this.#keptBytes -= (this.#kept.shift() as string).length
      this.#firstKept++
    }
  }
}

/** The place an event id of this session stands for; undefined for anything else. */
export function placeIn(eventId: string, prefix: string): Place | undefined {
  const match = /^([A-Za-z0-9_-]+)\.(\d{1,15})\.(\d{1,15})$/.exec(eventId)
  if (!match || match[1] !== prefix) return undefined
  return { stream: Number(match[2]), sequence: Number(match[3]) }
}
