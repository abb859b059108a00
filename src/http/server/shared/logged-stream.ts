/** The stream of an answer whose events go to the store first, and then to the client. */

import type { EndCause } from '../../../protocol/interfaces/service.ts'
import { isDown } from '../../../store/faults.ts'
import type { Batch, NewEvent } from '../../../store/stream-logs.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import type { EventSink, HttpReply } from '../runtime/request-reply.ts'
import { EVENT_STREAM_HEADERS, eventText, idEventText, RETRY_MS } from '../streams/event-stream.ts'
import type { AnswerStream } from '../streams/reply-outlet.ts'
import { eventIdOf } from './event-ids.ts'
import type { ReplicaServices } from './replica-services.ts'
import { untilHeard } from './until-heard.ts'

const TAKEN_OVER = 'Another replica runs this request now'
export const IS_OVER = 'The request is over'

export interface LoggedStreamOwner {
  readonly sid: string
  readonly stream: string
  readonly eventName: string
  readonly isPolled: boolean
  readonly usage: CallerUsage
  /** What another replica needs to continue, as JSON. */
  readonly callJson: string
  /** The answer that the client gets if the store refuses the events. */
  readonly refusedJson: string
  /** The answer that the client gets if this replica loses its lease before the client has an id to come back with. */
  readonly lostJson: string
  abort(reason: string, cause: EndCause): void
  /**
   * Another replica has continued, or the session has ended: stop the handler.
   * @param cause undefined if the session has ended
   */
  onFenced(reason: string, cause?: EndCause): void
  /** Everything is in the store. */
  onWritten(): void
  onUnattended(): void
}

export class LoggedStream implements AnswerStream {
  readonly #owner: LoggedStreamOwner
  readonly #services: ReplicaServices
  #sink: EventSink | undefined
  #waiting: NewEvent[] = []
  #isLast = false
  /** The store was given the end. From then on it answers as if another replica ran the request. */
  #isEnding = false
  #isOver = false
  /** The client has an id to come back with, to any replica. */
  #hasId = false
  #writing: Promise<void> | undefined
  #opening: Promise<boolean> | undefined
  #epoch: number | undefined

  /** @param epoch set if the stream was taken over; it has no client here then */
  constructor(owner: LoggedStreamOwner, services: ReplicaServices, epoch?: number) {
    this.#owner = owner
    this.#services = services
    this.#epoch = epoch
  }

  /** Undefined until the log exists. */
  get epoch(): number | undefined {
    return this.#epoch
  }

  connect(reply: HttpReply): void {
    const { open } = this.#services
    const { usage } = this.#owner
    const sink = reply.open(EVENT_STREAM_HEADERS)
    this.#sink = sink
    sink.onGone = () => {
      open.remove(sink)
      if (this.#sink !== sink) return
      this.#sink = undefined
      if (!this.#isOver) this.#owner.onUnattended()
    }
    open.add({ sink, usage, onTooOld: undefined, endsAt: reply.endsAt, onEnded: () => this.breakOff() })
    // The client gets an id as soon as the log exists.
    if (this.#owner.isPolled) void this.#write()
  }

  greet(): void {
    this.#sink?.write(':\n\n')
  }

  push(json: string, question?: string): Promise<void> {
    // A question that is withdrawn because the call ends.
    if (this.#isLast) return Promise.resolve()
    this.#waiting.push(question === undefined ? { json } : { json, question })
    return this.#write()
  }

  finish(json: string | undefined): void {
    if (this.#isLast) return
    if (json !== undefined) this.#waiting.push({ json })
    this.#isLast = true
    void this.#write()
  }

  /** Resolves when everything that was said is in the store. */
  async written(): Promise<void> {
    await this.#writing
  }

  /** Records a value for a later run. Rejects if this replica may not write any more. */
  async record(name: string, json: string): Promise<void> {
    const { sid, stream } = this.#owner
    if (!this.#isOver && (await this.#opened()) && !this.#isOver) {
      const { streams } = this.#services.store
      if (await this.#untilHeard(() => streams.record(sid, stream, this.#epoch as number, name, json))) return
      if (!this.#isLast) this.fence(TAKEN_OVER)
    }
    throw new DOMException(this.#isLast ? IS_OVER : TAKEN_OVER, 'AbortError')
  }

  /** The store says that this replica does not run the request. That is no news once it was given the end, which a slow client still reads. */
  onRefused(refused: 'gone' | 'fenced'): void {
    if (!this.#isEnding) this.#stopBecause(refused)
  }

  /**
   * Leaves the stream to another replica, which continues it. The handler is stopped, and the client comes back there.
   *
   * @param json the answer for a client that cannot come back
   */
  handOver(reason: string, json: string): EndCause {
    // No other replica knows of a stream without a log.
    const cause = this.#epoch === undefined ? 'shutdown' : 'handed_over'
    if (this.#isOver) return cause
    this.#answerWithoutId(json)
    this.#isOver = true
    this.breakOff()
    this.#owner.onFenced(reason, cause)
    this.#owner.onWritten()
    return cause
  }

  /** The handler goes on, and lets its client come back later. */
  release(): void {
    // The client needs an id to come back with.
    if (this.#owner.isPolled) void this.#write().then(() => this.breakOff())
  }

  /** Closes the connection but not the stream. The client comes back for the rest, to this or another replica. The handler goes on. */
  breakOff(): void {
    this.#sink?.write(`retry: ${RETRY_MS}\n\n`)
    this.disconnect()
  }

  /** The client reads the stream elsewhere, or has read all of it. The handler is not told. */
  disconnect(): void {
    const sink = this.#sink
    this.#sink = undefined
    if (!sink) return
    this.#services.open.remove(sink)
    sink.end()
  }

  /** Cuts the connection, so that the client does not take what it has for all. With an id it comes back to the replica that continues. */
  #destroy(): void {
    const sink = this.#sink
    this.#sink = undefined
    this.#isOver = true
    if (!sink) return
    this.#services.open.remove(sink)
    sink.destroy()
  }

  /** Resolves when everything that waits is in the store and sent. One batch at a time. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll()
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    // All that was said in this turn becomes one batch.
    await Promise.resolve()
    try {
      if (!(await this.#opened())) return
      while (!this.#isOver && (this.#waiting.length > 0 || this.#isLast)) {
        const events = this.#waiting
        const isLast = this.#isLast
        this.#waiting = []
        await this.#append(events, isLast)
        if (isLast) this.#end()
      }
    } catch (error) {
      this.#services.report(error)
      await this.#giveUp()
    } finally {
      // In the same turn as the last look at what waits: what is pushed after that look needs another write.
      this.#writing = undefined
    }
  }

  /** The store refuses the events, although this replica holds its lease. The handler is stopped, and the client gets an error for an answer. */
  async #giveUp(): Promise<void> {
    const reason = 'The store cannot be reached'
    const { store, lateEnds } = this.#services
    if (this.#isOver || !store.replica.isHeld) return this.fence(reason)
    const { sid, stream, refusedJson: json } = this.#owner
    this.#isLast = true
    this.#waiting = []
    this.#owner.abort(reason, 'store_down')
    try {
      if (this.#epoch === undefined) throw new Error(reason)
      await this.#append([{ json }], true)
    } catch {
      if (this.#isOver || !store.replica.isHeld) return this.fence(reason)
      this.#sink?.write(eventText(json, undefined))
      if (this.#epoch !== undefined) lateEnds.add({ sid, stream, epoch: this.#epoch, json })
    }
    this.#end()
  }

  async #opened(): Promise<boolean> {
    // This request would have to end a log that begins now, and it is over.
    if (this.#isOver) return false
    if (this.#epoch !== undefined) return true
    this.#opening ??= this.#openLog()
    return this.#opening
  }

  async #openLog(): Promise<boolean> {
    const { sid, stream, isPolled, eventName } = this.#owner
    const opened = await this.#open()
    if (typeof opened !== 'number') {
      if (opened === 'gone') this.#stopBecause(opened)
      else this.fence('The stream exists')
      return false
    }
    if (this.#isOver) {
      // The lease has ended meanwhile. If the log has the new name of this replica, no other one looks for it, so this one must end it.
      const { lateEnds } = this.#services
      lateEnds.add({ sid, stream, epoch: opened })
      void lateEnds.tryAll()
      return false
    }
    this.#epoch = opened
    if (isPolled && this.#sink) {
      this.#hasId = true
      this.#sink.write(idEventText(eventIdOf(eventName, stream, '')))
    }
    return true
  }

  async #open(): Promise<number | 'gone' | 'exists'> {
    const { sid, stream, callJson } = this.#owner
    const { store, lateEnds } = this.#services
    try {
      return await this.#untilHeard(() => store.streams.open(sid, stream, callJson))
    } catch (error) {
      // The request ends without a log. The store may have one, if only the replies were lost.
      if (isDown(error)) lateEnds.add({ sid, stream, epoch: undefined })
      throw error
    }
  }

  async #append(events: readonly NewEvent[], isLast: boolean): Promise<void> {
    const { store, shares, nextBatch, tails, open } = this.#services
    const { sid, stream, eventName, usage } = this.#owner
    const bounds = shares.boundsFor(usage, events)
    if (isLast) this.#isEnding = true
    const batch: Batch = { n: nextBatch(), epoch: this.#epoch as number, events, ...(isLast && { isLast }) }
    const appended = await this.#untilHeard(() => store.streams.append(sid, stream, batch, bounds))
    if (typeof appended === 'string') return this.#stopBecause(appended)
    if (appended.reader !== store.replica.id) return
    const sink = this.#sink
    if (!sink) return tails.wake(sid, stream)
    for (const [i, { json }] of events.entries()) {
      // A process that was stopped for a while must not write what others may have continued.
      if (!store.replica.isHeld) return sink.destroy()
      this.#hasId = true
      const waiting = open.write(sink, eventText(json, eventIdOf(eventName, stream, appended.positions[i] ?? '')))
      if (waiting) await waiting
    }
  }

  #untilHeard<T>(command: () => Promise<T>): Promise<T> {
    return untilHeard(this.#services, command, () => this.#isOver, this.#services.store.replica.leaseMs)
  }

  /** Everything was said. The client has its answer, or finds it when it comes back. */
  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.disconnect()
    this.#owner.onWritten()
  }

  /** This replica may not write any more. The handler is stopped. The client comes back to another replica, or gets an error if it cannot. */
  fence(reason: string): void {
    this.#answerWithoutId(this.#owner.lostJson)
    this.#stop(reason, 'replica_lost')
  }

  /** A client without an id cannot come back, so no other replica can answer it. */
  #answerWithoutId(json: string): void {
    if (this.#isOver || this.#hasId || !this.#sink) return
    this.#sink.write(eventText(json, undefined))
    this.disconnect()
  }

  /** `gone`: the session has ended, so the client can come back to nothing. `fenced`: as above. */
  #stopBecause(refused: 'gone' | 'fenced'): void {
    if (refused === 'gone') this.#stop('The session has ended')
    else this.fence(TAKEN_OVER)
  }

  /** The handler is stopped with this reason, and the client is cut off. */
  #stop(reason: string, cause?: EndCause): void {
    if (this.#isOver) return
    this.#destroy()
    this.#owner.onFenced(reason, cause)
    this.#owner.onWritten()
  }
}
