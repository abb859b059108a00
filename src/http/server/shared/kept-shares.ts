/** The events of calls that the store keeps for clients that resume: each caller may keep so many bytes, and all callers of this process. */

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { Clock } from '../../../base/clock.ts'
import { Bucket } from '../../../base/rate.ts'
import type { LogBounds } from '../../../store/stream-logs.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import { boundsOf } from './log-bounds.ts'

/** Callers whose bytes are remembered. The limit for all callers holds if there are more. */
const MAX_CALLERS = 10_000
/** The limit for all callers is this many times the limit of one. */
const CALLERS = 8
/** Enough for a client that is connected to another replica, and for one that comes back at once. */
const BRIEF_MS = 10_000

export class KeptShares {
  readonly #clock: Clock
  readonly #limits: AllHttpLimits
  readonly #usual: LogBounds
  readonly #brief: LogBounds
  readonly #all: Bucket
  readonly #callers = new BoundedMap<string, Bucket>(MAX_CALLERS)

  constructor(limits: AllHttpLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
    this.#usual = boundsOf(limits)
    const { maxSessionBytes, endedTtlMs } = this.#usual
    this.#brief = {
      ...this.#usual,
      endedTtlMs: Math.min(BRIEF_MS, endedTtlMs),
      maxSessionBytes: Math.min(limits.hardBufferBytes, maxSessionBytes),
    }
    this.#all = this.#bucket(limits.maxKeptBytes * CALLERS)
  }

  /** How long and how much of a session is kept from now on. A caller over its limit keeps only what connected clients need. */
  boundsFor({ kind, key }: CallerUsage, events: readonly { json: string }[]): LogBounds {
    let bytes = 0
    for (const { json } of events) bytes += json.length
    const now = this.#clock.now()
    const caller = `${kind} ${key}`
    const bucket = this.#callers.get(caller) ?? this.#bucket(this.#limits.maxKeptBytes)
    this.#callers.set(caller, bucket)
    return bucket.take(now, bytes) === 0 && this.#all.take(now, bytes) === 0 ? this.#usual : this.#brief
  }

  /** Events are kept for `eventTtlMs`, so in this time as much may be kept again. */
  #bucket(bytes: number): Bucket {
    return new Bucket({ burst: bytes, perSecond: (bytes * 1000) / this.#limits.eventTtlMs }, this.#clock.now())
  }
}
