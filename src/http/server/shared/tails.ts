/** Clients that read a stream with GET: each is told of new events as they come into the store. */

import type { SharedStore } from '../../../store/shared-store.ts'
import type { ReadFault } from '../../../store/stream-logs.ts'
import type { EventSink } from '../runtime/request-reply.ts'
import { eventText, RETRY_MS } from '../streams/event-stream.ts'
import type { OpenStreams } from '../streams/open-streams.ts'
import { eventIdOf } from './event-ids.ts'
import { producerOf } from './producer.ts'
import { isUnusable } from './store-refusal.ts'

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
  readonly #tails = new Map<string, Tail>()

  constructor(store: SharedStore, open: OpenStreams, report: (error: unknown) => void) {
    this.#store = store
    this.#open = open
    this.#report = report
  }

  get size(): number {
    return this.#tails.size
  }

  /** The streams of a session that are read here, without the given one. */
  others(sid: string, stream: string): number {
    let count = 0
    for (const { of } of this.#tails.values()) if (of.sid === sid && of.stream !== stream) count++
    return count
  }

  /** The sessions that are read here. */
  sids(): Set<string> {
    return new Set([...this.#tails.values()].map(({ of }) => of.sid))
  }

  add(of: TailedStream): void {
    const key = keyOf(of.sid, of.stream)
    this.#tails.get(key)?.end()
    const tail = new Tail(of, this.#store, this.#open, this.#report, () => {
      if (this.#tails.get(key) !== tail) return
      this.#tails.delete(key)
      if (this.#tails.size === 0) producerOf(this.#store).tails.delete(this)
    })
    this.#tails.set(key, tail)
    producerOf(this.#store).tails.add(this)
  }

  /** The stream has new events. Another endpoint of this process may read it. */
  wake(sid: string, stream: string): void {
    for (const each of producerOf(this.#store).tails) each.#tails.get(keyOf(sid, stream))?.wake()
  }

  wakeAll(): void {
    for (const tail of this.#tails.values()) tail.wake()
  }

  supersede(sid: string, stream: string, reader: number): void {
    const tail = this.#tails.get(keyOf(sid, stream))
    if (tail && tail.of.reader < reader) tail.end()
  }

  end(sid: string, stream: string): void {
    this.#tails.get(keyOf(sid, stream))?.end()
  }

  destroy(sid: string, stream: string): void {
    this.#tails.get(keyOf(sid, stream))?.destroy()
  }

  breakOff(sid: string, stream: string): void {
    this.#tails.get(keyOf(sid, stream))?.breakOff()
  }

  endSession(sid: string): void {
    for (const tail of [...this.#tails.values()]) if (tail.of.sid === sid) tail.end()
  }

  /** Ends all connections. Clients come back after this time, to this or another replica. */
  breakOffAll(retryMs = RETRY_MS): void {
    for (const tail of [...this.#tails.values()]) tail.breakOff(retryMs)
  }
}

const keyOf = (sid: string, stream: string): string => `${sid} ${stream}`

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
      if (isUnusable(error)) this.breakOff()
    } finally {
      this.#isReading = false
    }
  }
}

export const isFault = (read: ReadFault | object): read is ReadFault => typeof read === 'string'
