/** Every stream that is open now, looked after by one timer: kept alive, cut when nobody reads, ended when too old. */

import type { Clock, Timer } from '../../../base/clock.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import type { HttpLimits } from '../options.ts'
import type { EventSink } from '../runtime/view.ts'
import { SlowAnswers } from './slow-answers.ts'

export interface OpenStream {
  sink: EventSink
  /** Whose stream it is. */
  usage: CallerUsage
  /** Ends it in the way its kind ends; the age limit is not for streams of a request that is being worked on. */
  onTooOld: (() => void) | undefined
  /** When it must end whatever it is for, and how, unless as one that is too old. */
  endsAt?: number | undefined
  onEnded?: () => void
}

interface Watched extends OpenStream {
  openedAt: number
  quietSince: number
  takenBefore: number
  stalledSince: number | undefined
}

/** How often everything is looked at; more often where a limit is shorter than that. */
const TICK_MS = 1000
const SHORTEST_TICK_MS = 20

export class OpenStreams {
  readonly #limits: HttpLimits
  readonly #clock: Clock
  readonly #onCut: (limit: string) => void
  readonly #streams = new Map<EventSink, Watched>()
  /** How many of them belong to no request, and who waits until none does. */
  #standing = 0
  #isEnding = false
  readonly #onNoneStanding: (() => void)[] = []
  readonly #chores = new Set<() => void>()
  /** Requests whose answers become streams when they take long. */
  readonly slow: SlowAnswers
  readonly #tickMs: number
  #timer: Timer | undefined
  /** The time of the last tick: near enough for everything here, and free. */
  #now = 0

  constructor(limits: HttpLimits, clock: Clock, onCut: (limit: string) => void) {
    this.#limits = limits
    this.#clock = clock
    this.#onCut = onCut
    const shortest = Math.min(limits.streamAfterMs, limits.keepAliveMs, limits.stallMs, limits.maxStreamAgeMs, limits.sessionIdleMs)
    this.#tickMs = Math.min(TICK_MS, Math.max(SHORTEST_TICK_MS, shortest / 4))
    this.slow = new SlowAnswers(Math.ceil(limits.streamAfterMs / this.#tickMs), () => this.#start())
  }

  /** True when there shall be no more streams that belong to no request. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /** The time, a second late at most while anything is open. */
  get now(): number {
    return this.#now
  }

  get size(): number {
    return this.#streams.size
  }

  /** Something else to do now and then, while there is a reason to; the function ends it. */
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

  /** Writes an event, unless the reader has fallen too far behind: then it is cut off. A promise asks to wait for it. */
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

  /** Ends all streams that belong to no request, and resolves when they have ended: some have a last word to say. */
  endStanding(): Promise<void> {
    this.#isEnding = true
    for (const { onTooOld } of [...this.#streams.values()]) onTooOld?.()
    return this.#standing === 0 ? Promise.resolve() : new Promise((resolve) => this.#onNoneStanding.push(resolve))
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
    this.#onCut(limit)
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
    for (const watched of [...this.#streams.values()]) this.#look(watched, this.#now)
    for (const chore of [...this.#chores]) chore()
    this.slow.tick()
    if (this.#streams.size > 0 || this.#chores.size > 0 || !this.slow.isEmpty) this.#start()
  }

  /** Once: an end that takes a moment is not asked for again. */
  #end(watched: Watched): void {
    watched.endsAt = undefined
    if (watched.onTooOld) watched.onTooOld()
    else if (watched.onEnded) watched.onEnded()
    else watched.sink.destroy()
  }

  #look(watched: Watched, now: number): void {
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
