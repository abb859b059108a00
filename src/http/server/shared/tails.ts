/** Clients that read a stream with GET: each is told of new events as they come into the store. */

import type { SharedStore } from '../../../store/shared-store.ts'
import type { ReadFault } from '../../../store/stream-logs.ts'
import type { EventSink } from '../runtime/request-reply.ts'
import { eventText, RETRY_MS } from '../streams/event-stream.ts'
import type { OpenStreams } from '../streams/open-streams.ts'
import { eventIdOf } from './event-ids.ts'
import { producerOf } from './producer.ts'
import { isPermanent } from './store-refusal.ts'

/** Events that are read at once. */
export const READ_AT_ONCE = 64

export interface TailedStream {
  sid: string
  stream: string
  eventName: string
  reader: number
  /**
   * The last position that was written, or the one before the first event. Do not resume from what the store gave last: that reply may have
   * been lost.
   */
  position: string
  sink: EventSink
  /** The client has left the stream. */
  onGone(): void
}

export class Tails {
  readonly #store: SharedStore
  readonly #open: OpenStreams
  readonly #report: (error: unknown) => void
  /** By session, and there by stream. */
  readonly #tails = new Map<string, Map<string, Tail>>()

  constructor(store: SharedStore, open: OpenStreams, report: (error: unknown) => void) {
    this.#store = store
    this.#open = open
    this.#report = report
  }

  /** How many streams of a session are read here, without the given one. */
  others(sid: string, stream: string): number {
    const streams = this.#tails.get(sid)
    return (streams?.size ?? 0) - (streams?.has(stream) ? 1 : 0)
  }

  /** The sessions that are read here. */
  sids(): Iterable<string> {
    return this.#tails.keys()
  }

  add(of: TailedStream): void {
    const { sid, stream } = of
    this.#find(sid, stream)?.end()
    const tail = new Tail(of, this.#store, this.#open, this.#report, () => this.#forget(tail))
    const streams = this.#tails.get(sid) ?? new Map<string, Tail>()
    this.#tails.set(sid, streams.set(stream, tail))
    producerOf(this.#store).tails.add(this)
  }

  #forget(tail: Tail): void {
    const { sid, stream } = tail.of
    const streams = this.#tails.get(sid)
    if (streams?.get(stream) !== tail) return
    streams.delete(stream)
    if (streams.size === 0) this.#tails.delete(sid)
    if (this.#tails.size === 0) producerOf(this.#store).tails.delete(this)
  }

  #find(sid: string, stream: string): Tail | undefined {
    return this.#tails.get(sid)?.get(stream)
  }

  #all(): Tail[] {
    return [...this.#tails.values()].flatMap((streams) => [...streams.values()])
  }

  /** The stream has new events. Another endpoint of this process may read it. */
  wake(sid: string, stream: string): void {
    for (const each of producerOf(this.#store).tails) each.#find(sid, stream)?.wake()
  }

  wakeAll(): void {
    for (const tail of this.#all()) tail.wake()
  }

  supersede(sid: string, stream: string, reader: number): void {
    const tail = this.#find(sid, stream)
    if (tail && tail.of.reader < reader) tail.end()
  }

  end(sid: string, stream: string): void {
    this.#find(sid, stream)?.end()
  }

  destroy(sid: string, stream: string): void {
    this.#find(sid, stream)?.destroy()
  }

  breakOff(sid: string, stream: string): void {
    this.#find(sid, stream)?.breakOff()
  }

  endSession(sid: string): void {
    for (const tail of [...(this.#tails.get(sid)?.values() ?? [])]) tail.end()
  }

  /** Ends all connections. Clients come back after this time, to this or another replica. */
  breakOffAll(retryMs = RETRY_MS): void {
    for (const tail of this.#all()) tail.breakOff(retryMs)
  }
}

class Tail {
  readonly of: TailedStream
  readonly #store: SharedStore
  readonly #open: OpenStreams
  readonly #report: (error: unknown) => void
  readonly #onOver: () => void
  #isReading = false
  #isAwake = false
  #isOver = false

  constructor(of: TailedStream, store: SharedStore, open: OpenStreams, report: (error: unknown) => void, onOver: () => void) {
    this.of = of
    this.#store = store
    this.#open = open
    this.#report = report
    this.#onOver = onOver
    of.sink.onGone = () => {
      this.#open.remove(of.sink)
      if (!this.#isOver) of.onGone()
      this.#over()
      void this.#store.streams.detach(of.sid, of.stream, of.reader).catch(() => {})
    }
  }

  wake(): void {
    this.#isAwake = true
    if (!this.#isReading && !this.#isOver) void this.#readAll()
  }

  end(): void {
    if (this.#isOver) return
    this.#over()
    this.#open.remove(this.of.sink)
    this.of.sink.end()
  }

  breakOff(retryMs = RETRY_MS): void {
    if (!this.#isOver) this.of.sink.write(`retry: ${retryMs}\n\n`)
    this.end()
  }

  destroy(): void {
    if (this.#isOver) return
    this.#over()
    this.#open.remove(this.of.sink)
    this.of.sink.destroy()
  }

  #over(): void {
    this.#isOver = true
    this.#onOver()
  }

  async #readAll(): Promise<void> {
    const { sid, stream, reader, sink, eventName } = this.of
    this.#isReading = true
    try {
      while (this.#isAwake && !this.#isOver) {
        this.#isAwake = false
        const read = await this.#store.streams.read(sid, stream, reader, this.of.position, READ_AT_ONCE)
        if (this.#isOver) return
        if (isFault(read)) return this.end()
        for (const { position, json } of read.events) {
          if (!this.#store.replica.isHeld) return this.destroy()
          const waiting = this.#open.write(sink, eventText(json, eventIdOf(eventName, stream, position)))
          this.of.position = position
          if (waiting) await waiting
        }
        if (read.isOver) return this.end()
        if (read.next !== undefined) {
          this.of.position = read.next
          this.#isAwake = true
        }
      }
    } catch (error) {
      this.#report(error)
      // A replica with the right keys can give the client the rest. If the stream is damaged, the client gets an error when it comes back.
      // After any other error the next look reads the same events again.
      if (isPermanent(error)) this.breakOff()
    } finally {
      this.#isReading = false
    }
  }
}

export const isFault = (read: ReadFault | object): read is ReadFault => typeof read === 'string'
