/** All open streams, with one timer: keep-alive, disconnecting clients that do not read, the age limit. */

import type { Clock, Timer } from '../../../base/clock.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import type { EventSink, RequestOfReply } from '../runtime/request-reply.ts'
import { SlowAnswers } from './slow-answers.ts'

export interface OpenStream {
  sink: EventSink
  /** Where the stream is counted. */
  usage: CallerUsage
  /** Ends a standing stream that is too old. Undefined for streams of a request, which have no age limit. */
  onTooOld: (() => void) | undefined
  /** When the stream must end in any case. */
  endsAt?: number | undefined
  /** How it ends then. Default: like a stream that is too old, or by closing the connection. */
  onEnded?: () => void
}

interface Watched extends OpenStream {
  openedAt: number
  quietSince: number
  takenBefore: number
  stalledSince: number | undefined
}

/** How often all streams are checked; more often where a limit is shorter. */
const TICK_MS = 1000
const SHORTEST_TICK_MS = 20
/** Pings in a row that fail before a stream is closed. One may be lost on a poor network; `pingMs` sets how fast this is. */
export const MAX_MISSED_PINGS = 2

export class OpenStreams {
  readonly #limits: AllHttpLimits
  readonly #clock: Clock
  readonly #onCut: (reply: RequestOfReply, limit: string) => void
  readonly #streams = new Map<EventSink, Watched>()
  /** The number of standing streams, which belong to no request, and the listeners for its return to zero. */
  #standing = 0
  #isEnding = false
  #isClosed = false
  readonly #onNoneStanding: (() => void)[] = []
  readonly #chores = new Set<() => void>()
  /** Requests whose answers become streams when they take too long. */
  readonly slow: SlowAnswers
  readonly #tickMs: number
  #timer: Timer | undefined
  /** The time of the last tick. Precise enough here, and reading it costs nothing. */
  #now = 0

  constructor(limits: AllHttpLimits, clock: Clock, onCut: (reply: RequestOfReply, limit: string) => void) {
    this.#limits = limits
    this.#clock = clock
    this.#onCut = onCut
    const shortest = Math.min(limits.streamAfterMs, limits.keepAliveMs, limits.stallMs, limits.maxStreamAgeMs, limits.sessionIdleMs)
    this.#tickMs = Math.min(TICK_MS, Math.max(SHORTEST_TICK_MS, shortest / 4))
    this.slow = new SlowAnswers(Math.ceil(limits.streamAfterMs / this.#tickMs), () => this.#start())
  }

  /** True once no more standing streams are opened. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /** True once the server cuts what is in progress. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The time of the last tick: at most one second old while the timer runs, older while nothing is watched. */
  get now(): number {
    return this.#now
  }

  get size(): number {
    return this.#streams.size
  }

  /** Calls `chore` on every tick until the returned function is called. */
  everyTick(chore: () => void): () => void {
    this.#chores.add(chore)
    this.#start()
    return () => this.#chores.delete(chore)
  }

  add(stream: OpenStream): void {
    this.#start()
    const { sink, usage, onTooOld } = stream
    if (onTooOld) this.#standing++
    usage.streams++
    this.#streams.set(sink, { ...stream, openedAt: this.#now, quietSince: this.#now, takenBefore: -1, stalledSince: undefined })
  }

  remove(sink: EventSink): void {
    const watched = this.#streams.get(sink)
    if (!watched) return
    this.#streams.delete(sink)
    watched.usage.streams--
    if (watched.onTooOld && --this.#standing === 0) for (const resolve of this.#onNoneStanding.splice(0)) resolve()
  }

  /** Writes an event. Disconnects a client that is too far behind. A promise asks the writer to wait for the client. */
  write(sink: EventSink, text: string): undefined | Promise<void> {
    if (sink.pending >= this.#limits.hardBufferBytes) {
      this.#cut(sink, 'hardBufferBytes')
      return undefined
    }
    sink.write(text)
    const watched = this.#streams.get(sink)
    if (watched) watched.quietSince = this.#now
    if (sink.pending <= this.#limits.softBufferBytes) return undefined
    return new Promise((resolve) => sink.whenDrained(resolve))
  }

  /** Ends all standing streams, and resolves when they have ended. Some send a last message first. */
  endStanding(): Promise<void> {
    this.#isEnding = true
    for (const { onTooOld } of [...this.#streams.values()]) onTooOld?.()
    return this.#standing === 0 ? Promise.resolve() : new Promise((resolve) => this.#onNoneStanding.push(resolve))
  }

  /** What is in progress is cut from now on. Open streams still get their last events. */
  beginClose(): void {
    this.#isClosed = true
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    for (const sink of [...this.#streams.keys()]) {
      sink.destroy()
      this.remove(sink)
    }
  }

  #cut(sink: EventSink, limit: string): void {
    this.#onCut(sink.reply, limit)
    sink.destroy()
  }

  #start(): void {
    if (this.#timer) return
    this.#now = this.#clock.now()
    this.#timer = this.#clock.after(this.#tickMs, () => this.#tick())
  }

  #tick(): void {
    this.#timer = undefined
    this.#now = this.#clock.now()
    for (const watched of [...this.#streams.values()]) this.#check(watched, this.#now)
    for (const chore of [...this.#chores]) chore()
    this.slow.tick()
    if (this.#streams.size > 0 || this.#chores.size > 0 || !this.slow.isEmpty) this.#start()
  }

  /** Ends a stream once, even if the end takes several ticks. */
  #end(watched: Watched): void {
    watched.endsAt = undefined
    if (watched.onTooOld) watched.onTooOld()
    else if (watched.onEnded) watched.onEnded()
    else watched.sink.destroy()
  }

  #check(watched: Watched, now: number): void {
    const { sink, onTooOld, endsAt } = watched
    if (endsAt !== undefined && now >= endsAt) return this.#end(watched)
    if (sink.pending === 0 || sink.taken !== watched.takenBefore) {
      watched.takenBefore = sink.taken
      watched.stalledSince = undefined
    } else {
      watched.stalledSince ??= now
      if (now - watched.stalledSince >= this.#limits.stallMs) return this.#cut(sink, 'stallMs')
    }
    if (onTooOld && now - watched.openedAt >= this.#limits.maxStreamAgeMs) return onTooOld()
    if (now - watched.quietSince < this.#limits.keepAliveMs || sink.pending > 0) return
    watched.quietSince = now
    sink.write(':\n\n')
  }
}
