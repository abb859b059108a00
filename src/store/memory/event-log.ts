/** The log of one stream in memory. */

import { type Appended, type AppendedBatch, type Batch, type EventsRead, type LogBounds, MAX_PRODUCERS } from '../stream-logs.ts'
import { compare, following, type Position, positionOf, textOf } from './position.ts'

interface LoggedEvent {
  at: Position
  json: string
  coalesce: string | undefined
}

/** A text is kept with one byte for each character, or with two if one of them needs that. */
const sizeOf = (json: string): number => (WIDE.test(json) ? json.length * 2 : json.length)

const WIDE = /[^\0-\xff]/

export class EventLog {
  owner: string | undefined
  epoch: number
  call: string
  isOver = false
  expiresAt = Number.POSITIVE_INFINITY
  reader: { replica: string; number: number } | undefined
  readers = 0
  /** Questions without an answer. The value is the replica that asks, if it is not the owner of the stream. */
  readonly questions = new Map<string, string | undefined>()
  readonly answers = new Map<string, string>()
  readonly journal = new Map<string, string>()
  /** The position of the last event with each key of `coalesce`. */
  readonly #dirty = new Map<string, Position>()
  readonly #events: LoggedEvent[] = []
  readonly #producers = new Map<string, { n: number; positions: AppendedBatch['positions'] }>()
  #bytes = 0
  #last: Position | undefined
  #delivered: Position | undefined
  /** The last event that was dropped. */
  #dropped: Position | undefined

  constructor(owner: string | undefined, call: string, epoch: number) {
    this.owner = owner
    this.call = call
    this.epoch = epoch
  }

  append(producer: string, batch: Batch, bounds: LogBounds, now: number): Appended {
    const before = this.#producers.get(producer)
    if (before?.n === batch.n) return { positions: before.positions, reader: this.reader?.replica }
    if (before && before.n > batch.n) return 'fenced'
    if (this.isOver || (this.owner !== undefined && (this.owner !== producer || this.epoch !== batch.epoch))) return 'fenced'
    const positions = batch.events.map(({ json, question, coalesce }) => {
      if (coalesce !== undefined && this.#isUnread(coalesce)) return undefined
      const at = this.#add(json, coalesce, now)
      if (question !== undefined) this.questions.set(question, this.owner === undefined ? producer : undefined)
      return textOf(at)
    })
    const { maxEvents, maxBytes } = bounds
    this.#dropWhile(() => this.#events.length > maxEvents || (this.#bytes > maxBytes && this.#events.length > 1), now)
    this.#remember(producer, batch.n, positions)
    if (batch.isLast) this.#end()
    return { positions, reader: this.reader?.replica }
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Forgets the oldest events, until so many bytes are free or `keep` events are left. Unread changes stay. Returns the bytes. */
  free(bytes: number, keep: number, now: number): number {
    const [before, newest] = [this.#bytes, this.#last]
    const isOld = ({ at }: LoggedEvent): boolean => newest !== undefined && compare(at, newest) <= 0
    this.#dropWhile((oldest) => before - this.#bytes < bytes && this.#events.length > keep && isOld(oldest), now)
    return before - this.#bytes
  }

  /** Forgets the oldest events, also unread changes, until so many bytes are free or `keep` events are left. Returns the bytes. */
  freeUnread(bytes: number, keep: number): number {
    const before = this.#bytes
    while (before - this.#bytes < bytes && this.#events.length > keep) this.#dropOldest()
    return before - this.#bytes
  }

  /** Raises the epoch, so that everything the owner before appends is refused. */
  takeOver(owner: string, now: number): void {
    this.owner = owner
    this.epoch = Math.max(this.epoch + 1, now)
  }

  /** @param after undefined: the last position that any reader was given */
  read(after: string | undefined, limit: number): EventsRead | 'lost' {
    const from = this.#start(after)
    if (from === 'lost') return 'lost'
    const found = from ? this.#events.filter(({ at }) => compare(at, from) > 0) : this.#events
    const events = found.slice(0, limit)
    const last = events.at(-1)?.at
    if (last && (!this.#delivered || compare(last, this.#delivered) > 0)) this.#delivered = last
    if (found.length <= limit) this.#dirty.clear()
    return {
      events: events.map(({ at, json }) => ({ position: textOf(at), json })),
      isOver: this.isOver && found.length <= limit,
      next: last && found.length > limit ? textOf(last) : undefined,
    }
  }

  /** Where a reader without a position begins. */
  get from(): string {
    const [given, dropped] = [this.#delivered, this.#dropped]
    const from = given && dropped && compare(given, dropped) < 0 ? dropped : (given ?? dropped)
    return from ? textOf(from) : ''
  }

  #start(after: string | undefined): Position | undefined | 'lost' {
    if (after === undefined) return this.#delivered
    if (after === '') return this.#dropped ? 'lost' : undefined
    const from = positionOf(after)
    if (!from) return 'lost'
    if (this.#dropped && compare(from, this.#dropped) === 0) return from
    return this.#events.some(({ at }) => compare(at, from) === 0) ? from : 'lost'
  }

  #add(json: string, coalesce: string | undefined, now: number): Position {
    const at = following(this.#last, now)
    this.#last = at
    this.#events.push({ at, json, coalesce })
    this.#bytes += sizeOf(json)
    if (coalesce !== undefined) this.#dirty.set(coalesce, at)
    return at
  }

  /** @param only at this position */
  #isUnread(key: string, only?: Position): boolean {
    const at = this.#dirty.get(key)
    return at !== undefined && (only === undefined || only === at) && (!this.#delivered || compare(at, this.#delivered) > 0)
  }

  /** Only its events are still needed: no later run reads the rest. */
  #end(): void {
    this.isOver = true
    this.call = ''
    for (const each of [this.questions, this.answers, this.journal]) each.clear()
  }

  /** A notice of a change that the client has not read becomes the newest event, once in each call. */
  #dropWhile(isTooMuch: (oldest: LoggedEvent) => boolean, now: number): void {
    const newest = this.#last
    for (let [oldest] = this.#events; oldest && isTooMuch(oldest); [oldest] = this.#events) {
      const { at, json, coalesce } = oldest
      const isLost = coalesce !== undefined && this.#isUnread(coalesce, at)
      this.#dropOldest()
      if (isLost && newest && compare(at, newest) <= 0) this.#add(json, coalesce, now)
    }
  }

  #dropOldest(): void {
    const dropped = this.#events.shift()
    if (!dropped) return
    const { at, json, coalesce } = dropped
    if (coalesce !== undefined && this.#dirty.get(coalesce) === at) this.#dirty.delete(coalesce)
    this.#bytes -= sizeOf(json)
    this.#dropped = at
  }

  #remember(producer: string, n: number, positions: AppendedBatch['positions']): void {
    this.#producers.delete(producer)
    this.#producers.set(producer, { n, positions })
    const [oldest] = this.#producers.keys()
    if (this.#producers.size > MAX_PRODUCERS && oldest !== undefined) this.#producers.delete(oldest)
  }
}
