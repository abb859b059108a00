/** One resumable stream of events: the events that are kept, their ids, and the connected reader. */

import type { LinkedList } from '../../../base/linked-list.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import type { CallerUsage, EventStore } from '../limits/caller-usage.ts'
import { sizeOf } from '../limits/kept-bytes.ts'
import type { EventSink } from '../runtime/request-reply.ts'
import type { OpenStreams } from './open-streams.ts'
import type { AnswerStream } from './reply-outlet.ts'

export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** How long clients are asked to wait before they reconnect: short for a person, long enough that clients do not poll. */
export const RETRY_MS = 1_000

export const eventText = (json: string, id: string | undefined): string =>
  id === undefined ? `event: message\ndata: ${json}\n\n` : `event: message\nid: ${id}\ndata: ${json}\n\n`

/** An event that carries only an id, so that the reader can resume. */
export const idEventText = (id: string): string => `id: ${id}\nretry: ${RETRY_MS}\ndata:\n\n`

/** The position that an event id names. */
export interface EventPosition {
  stream: number
  sequence: number
}

/** The owner of a stream. */
export interface EventStreamOwner {
  /** The prefix of every event id, unique to this owner. */
  readonly prefix: string
  readonly limits: AllHttpLimits
  readonly open: OpenStreams
  /** Whether streams begin with an event that carries only an id, and may be closed before their end. */
  readonly isPolled: boolean
  /** Where streams and kept bytes are counted. */
  readonly usage: CallerUsage
  /** The stream has a reader again. */
  onAttended(stream: EventStream): void
  /** The stream ended, or lost its reader. */
  onUnattended(stream: EventStream): void
  /** The kept bytes of the stream changed by this number. */
  onKept(stream: EventStream, bytes: number): void
  /** The events of an ended stream have to be dropped. */
  onTooMuch(stream: EventStream): void
}

/** Shared by all streams that keep no events. Never written to. */
const NONE: string[] = []

export class EventStream implements AnswerStream, EventStore {
  readonly number: number
  readonly #owner: EventStreamOwner
  previous: EventStore | undefined
  next: EventStore | undefined
  listedIn: LinkedList<EventStore> | undefined
  /** The texts of the kept events, from number `#firstKept` on. */
  #kept: string[] = NONE
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
  /** When the stream ended or its reader disconnected. Its events expire some time later. */
  unattendedSince: number | undefined
  /** The server disconnected the reader, which will come back. The request is not abandoned. */
  isReleased = false
  /** Counted as the stream of an abandoned request. */
  isAbandoned = false

  constructor(number: number, owner: EventStreamOwner) {
    this.number = number
    this.#owner = owner
    this.#maxEvents = owner.limits.maxEvents
    this.#maxEventBytes = owner.limits.maxEventBytes
  }

  /** Lowers the limits until a reader connects. */
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

  /** The last event that was sent to a reader. A new reader without a last event id continues after it. */
  get written(): number {
    return this.#written
  }

  get #last(): number {
    return this.#firstKept + this.#kept.length - 1
  }

  /** Why a client cannot resume after event `sequence`; undefined when it can. */
  checkResume(sequence: number): string | undefined {
    if (sequence > this.#last) return 'The last event id names an event that was not sent'
    if (sequence < this.#firstKept - 1) return 'Events after that id are no longer kept'
    return undefined
  }

  /** Whether the stream ended with event `sequence` and without an answer. */
  isDroppedAfter(sequence: number): boolean {
    return this.#isDropped && sequence === this.#last
  }

  /**
   * Connects a reader, and disconnects the previous one.
   * @param after the last event it has seen
   */
  connect(sink: EventSink, after: number, { onTooOld, endsAt }: { onTooOld?: (() => void) | undefined; endsAt: number | undefined }): void {
    const { open, limits, isPolled, usage } = this.#owner
    if (this.#sink) this.#disconnect()
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
    if (isPolled) sink.write(this.#idEvent(after))
    for (let i = Math.max(0, after + 1 - this.#firstKept); i < this.#kept.length; i++) sink.write(this.#kept[i] as string)
    this.#written = this.#last
    if (!this.#isOver) return
    this.#disconnect()
    this.#owner.onUnattended(this)
  }

  /** Begins with the only event of a stream that has ended. */
  restore(event: string): void {
    // Over before it is kept, so that it is never listed as an open stream.
    this.#isOver = true
    this.#keep(event)
    this.#owner.onUnattended(this)
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

  /** Sends the last event of the stream and ends it. */
  finish(json: string | undefined): void {
    if (json !== undefined) void this.push(json)
    else this.#isDropped = true
    this.#isOver = true
    this.#disconnect()
    this.#owner.onUnattended(this)
  }

  release(): void {
    if (!this.#owner.isPolled) return
    this.isReleased = true
    this.breakOff()
  }

  /** Closes the connection but not the stream. The reader reconnects for the rest. */
  breakOff(): void {
    if (!this.#sink) return
    this.#sink.write(`retry: ${RETRY_MS}\n\n`)
    this.#disconnect()
    this.#owner.onUnattended(this)
  }

  #idEvent(sequence: number): string {
    return idEventText(this.#idOf(sequence))
  }

  #idOf(sequence: number): string {
    return `${this.#owner.prefix}.${this.number}.${sequence}`
  }

  #disconnect(): void {
    const sink = this.#sink
    if (!sink) return
    this.#sink = undefined
    this.#owner.open.remove(sink)
    sink.end()
  }

  /** Drops all events of an ended stream, or the oldest event of an open one. */
  evictOldest(): boolean {
    if (this.#kept.length === 0) return false
    if (this.#isOver) this.#owner.onTooMuch(this)
    else this.#owner.onKept(this, -this.#dropOldest())
    return true
  }

  /** Keeps no events from now on. New ones only go to the reader, if there is one. */
  forget(): void {
    this.#isForgotten = true
    const bytes = this.#keptBytes
    this.#firstKept += this.#kept.length
    this.#kept = NONE
    this.#keptBytes = 0
    if (bytes > 0) this.#owner.onKept(this, -bytes)
  }

  #keep(text: string): void {
    if (this.#isForgotten) {
      this.#firstKept++
      return
    }
    const bytes = sizeOf(text)
    // Most streams keep one event. An array that grows by `push` reserves room for many.
    if (this.#kept.length === 0) this.#kept = [text]
    else this.#kept.push(text)
    this.#keptBytes += bytes
    let change = bytes
    while (this.#kept.length > this.#maxEvents || (this.#keptBytes > this.#maxEventBytes && this.#kept.length > 1)) {
      change -= this.#dropOldest()
    }
    this.#owner.onKept(this, change)
  }

  #dropOldest(): number {
    const bytes = sizeOf(this.#kept.shift() as string)
    this.#keptBytes -= bytes
    this.#firstKept++
    return bytes
  }
}

/** Reads an event id of this session; undefined for any other text. */
export function readEventId(eventId: string, prefix: string): EventPosition | undefined {
  const match = /^([A-Za-z0-9_-]+)\.(\d{1,15})\.(\d{1,15})$/.exec(eventId)
  if (!match || match[1] !== prefix) return undefined
  return { stream: Number(match[2]), sequence: Number(match[3]) }
}
