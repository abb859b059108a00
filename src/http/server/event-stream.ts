/** One resumable stream of events: what was said, under which ids, and whoever listens now. */

import type { Sink } from './ask.ts'
import type { OpenStreams } from './open-streams.ts'
import type { HttpLimits } from './options.ts'
import type { AnswerStream } from './reply-outlet.ts'

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

/** Whose stream it is. */
export interface EventStreamOwner {
  /** Begins every event id; only this owner has it. */
  readonly prefix: string
  readonly limits: HttpLimits
  readonly open: OpenStreams
  /** Streams begin with an event that says nothing but its id, and may be broken off before their end. */
  readonly isPolled: boolean
  /** The stream ended, or lost its reader. */
  onUnattended(stream: EventStream): void
}

export class EventStream implements AnswerStream {
  readonly number: number
  readonly #owner: EventStreamOwner
  /** The events from `#firstKept` on. */
  #kept: string[] = []
  #keptBytes = 0
  #firstKept = 1
  #sink: Sink | undefined
  #isOver = false
  #isDropped = false
  #maxEvents: number
  #maxEventBytes: number
  /** When the stream ended or its reader went away; what is kept is forgotten some time after. */
  unattendedSince: number | undefined

  constructor(number: number, owner: EventStreamOwner) {
    this.number = number
    this.#owner = owner
    this.#maxEvents = owner.limits.maxEvents
    this.#maxEventBytes = owner.limits.maxEventBytes
  }

  /** Until there is a reader. */
  keepAtMost(events: number, bytes: number): void {
    this.#maxEvents = Math.min(events, this.#maxEvents)
    this.#maxEventBytes = Math.min(bytes, this.#maxEventBytes)
  }

  get isConnected(): boolean {
    return this.#sink !== undefined
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Why a client cannot go on after event `sequence`; undefined when it can. */
  faultOf(sequence: number): string | undefined {
    if (sequence >= this.#firstKept + this.#kept.length) return 'The last event id names an event that was never sent'
    if (sequence < this.#firstKept - 1) return 'Events after that id are no longer kept'
    return undefined
  }

  /** The stream ended with event `sequence`, and without the answer it was for. */
  isDroppedAfter(sequence: number): boolean {
    return this.#isDropped && sequence === this.#firstKept + this.#kept.length - 1
  }

  /**
   * Gives the stream a reader, in place of the one before.
   * @param after the last event it has seen
   */
  connect(sink: Sink, after: number, { onTooOld, endsAt }: { onTooOld?: (() => void) | undefined; endsAt: number | undefined }): void {
    const { open, limits, isPolled } = this.#owner
    if (this.#sink) this.#hangUp()
    this.#maxEvents = limits.maxEvents
    this.#maxEventBytes = limits.maxEventBytes
    this.#sink = sink
    this.unattendedSince = undefined
    sink.onGone = () => {
      open.remove(sink)
      if (this.#sink !== sink) return
      this.#sink = undefined
      this.#owner.onUnattended(this)
    }
    open.add({ sink, onTooOld, endsAt, onEnded: () => this.breakOff() })
    if (isPolled) sink.write(this.#mark(after))
    for (let i = Math.max(0, after + 1 - this.#firstKept); i < this.#kept.length; i++) sink.write(this.#kept[i] as string)
    if (!this.#isOver) return
    this.#hangUp()
    this.#owner.onUnattended(this)
  }

  /** The text of a stream that begins and ends with its one event. */
  atOnce(json: string): string {
    const text = eventText(json, this.#idOf(1))
    this.#keep(text)
    this.#isOver = true
    this.#owner.onUnattended(this)
    return this.#owner.isPolled ? this.#mark(0) + text : text
  }

  greet(): void {
    this.#sink?.write(':\n\n')
  }

  push(json: string): undefined | Promise<void> {
    if (this.#isOver) return undefined
    const text = eventText(json, this.#idOf(this.#firstKept + this.#kept.length))
    this.#keep(text)
    return this.#sink ? this.#owner.open.write(this.#sink, text) : undefined
  }

  /** The last event of the stream. */
  finish(json: string | undefined): void {
    if (json !== undefined) void this.push(json)
    else this.#isDropped = true
    this.#isOver = true
    this.#hangUp()
    this.#owner.onUnattended(this)
  }

  release(): void {
    if (this.#owner.isPolled) this.breakOff()
  }

  /** Ends the connection, not the stream: the reader comes back for the rest. */
  breakOff(): void {
    if (!this.#sink) return
    this.#sink.write(`retry: ${this.#owner.limits.retryMs}\n\n`)
    this.#hangUp()
    this.#owner.onUnattended(this)
  }

  /** An event that says nothing but its id, so that the reader has one to come back with. */
  #mark(sequence: number): string {
    return `id: ${this.#idOf(sequence)}\nretry: ${this.#owner.limits.retryMs}\ndata:\n\n`
  }

  #idOf(sequence: number): string {
    return `${this.#owner.prefix}.${this.number}.${sequence}`
  }

  #hangUp(): void {
    const sink = this.#sink
    if (!sink) return
    this.#sink = undefined
    this.#owner.open.remove(sink)
    sink.end()
  }

  #keep(text: string): void {
    this.#kept.push(text)
    this.#keptBytes += text.length
    while (this.#kept.length > this.#maxEvents || (this.#keptBytes > this.#maxEventBytes && this.#kept.length > 1)) {
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
