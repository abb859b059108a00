/** One resumable stream of events: what was said, under which ids, and whoever listens now. */

import type { CallerUsage, EventStore } from '../limits/caller-usage.ts'
import { sizeOf } from '../limits/kept-bytes.ts'
import type { HttpLimits } from '../options.ts'
import type { EventSink } from '../runtime/view.ts'
import type { OpenStreams } from './open-streams.ts'
import type { AnswerStream } from './reply-outlet.ts'

export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

export const eventText = (json: string, id: string | undefined): string =>
  id === undefined ? `event: message\ndata: ${json}\n\n` : `event: message\nid: ${id}\ndata: ${json}\n\n`

/** Where in a stream a client left off, as its last event id says. */
export interface EventPosition {
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
  /** Whose streams and kept bytes they are counted as. */
  readonly usage: CallerUsage
  /** The stream has a reader again. */
  onAttended(stream: EventStream): void
  /** The stream ended, or lost its reader. */
  onUnattended(stream: EventStream): void
  /** The stream keeps so many bytes more, or fewer. */
  onKept(stream: EventStream, bytes: number): void
  /** There is no room for what the stream keeps. */
  onTooMuch(stream: EventStream): void
}

interface KeptEvent {
  text: string
  bytes: number
}

export class EventStream implements AnswerStream, EventStore {
  readonly number: number
  readonly #owner: EventStreamOwner
  /** The events from `#firstKept` on. */
  #kept: KeptEvent[] = []
  #keptBytes = 0
  #firstKept = 1
  /** The last event that was written to a reader. */
  #written = 0
  #sink: EventSink | undefined
  #isOver = false
  #isDropped = false
  #isForgotten = false
  #maxEvents: number
  #maxEventBytes: number
  /** When the stream ended or its reader went away; what is kept is forgotten some time after. */
  unattendedSince: number | undefined
  /** The server let the reader go, who comes back for the rest: nobody gave it up. */
  isReleased = false
  /** Counted as the stream of a request that nobody waits for. */
  isAbandoned = false

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

  /** The last event that some reader was sent; a new reader that names no event goes on after it. */
  get written(): number {
    return this.#written
  }

  get #last(): number {
    return this.#firstKept + this.#kept.length - 1
  }

  /** Why a client cannot go on after event `sequence`; undefined when it can. */
  checkResume(sequence: number): string | undefined {
    if (sequence > this.#last) return 'The last event id names an event that was never sent'
    if (sequence < this.#firstKept - 1) return 'Events after that id are no longer kept'
    return undefined
  }

  /** The stream ended with event `sequence`, and without the answer it was for. */
  isDroppedAfter(sequence: number): boolean {
    return this.#isDropped && sequence === this.#last
  }

  /**
   * Gives the stream a reader, in place of the one before.
   * @param after the last event it has seen
   */
  connect(sink: EventSink, after: number, { onTooOld, endsAt }: { onTooOld?: (() => void) | undefined; endsAt: number | undefined }): void {
    const { open, limits, isPolled, usage } = this.#owner
    if (this.#sink) this.#hangUp()
    this.#maxEvents = limits.maxEvents
    this.#maxEventBytes = limits.maxEventBytes
    this.#sink = sink
    this.unattendedSince = undefined
    this.isReleased = false
    this.#owner.onAttended(this)
    sink.onGone = () => {
      open.remove(sink)
      if (this.#sink !== sink) return
      this.#sink = undefined
      this.#owner.onUnattended(this)
    }
    open.add({ sink, usage, onTooOld, endsAt, onEnded: () => this.breakOff() })
    if (isPolled) sink.write(this.#mark(after))
    for (let i = Math.max(0, after + 1 - this.#firstKept); i < this.#kept.length; i++) sink.write((this.#kept[i] as KeptEvent).text)
    this.#written = this.#last
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
    const sequence = this.#last + 1
    const text = eventText(json, this.#idOf(sequence))
    this.#keep(text)
    if (!this.#sink) return undefined
    this.#written = sequence
    return this.#owner.open.write(this.#sink, text)
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
    if (!this.#owner.isPolled) return
    this.isReleased = true
    this.breakOff()
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

  /** Makes room: all of a stream that ended, or the oldest event of one that goes on. */
  evictOldest(): boolean {
    if (this.#kept.length === 0) return false
    if (this.#isOver) this.#owner.onTooMuch(this)
    else this.#owner.onKept(this, -this.#dropOldest())
    return true
  }

  /** Keeps nothing from now on; what is still said goes to the reader, if there is one. */
  forget(): void {
    this.#isForgotten = true
    const bytes = this.#keptBytes
    this.#firstKept += this.#kept.length
    this.#kept = []
    this.#keptBytes = 0
    if (bytes > 0) this.#owner.onKept(this, -bytes)
  }

  #keep(text: string): void {
    if (this.#isForgotten) {
      this.#firstKept++
      return
    }
    const bytes = sizeOf(text)
    this.#kept.push({ text, bytes })
    this.#keptBytes += bytes
    let change = bytes
    while (this.#kept.length > this.#maxEvents || (this.#keptBytes > this.#maxEventBytes && this.#kept.length > 1)) {
      change -= this.#dropOldest()
    }
    this.#owner.onKept(this, change)
  }

  #dropOldest(): number {
    const { bytes } = this.#kept.shift() as KeptEvent
    this.#keptBytes -= bytes
    this.#firstKept++
    return bytes
  }
}

/** The place an event id of this session stands for; undefined for anything else. */
export function readEventId(eventId: string, prefix: string): EventPosition | undefined {
  const match = /^([A-Za-z0-9_-]+)\.(\d{1,15})\.(\d{1,15})$/.exec(eventId)
  if (!match || match[1] !== prefix) return undefined
  return { stream: Number(match[2]), sequence: Number(match[3]) }
}
