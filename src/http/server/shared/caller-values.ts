/** The outcomes and steps of rounds that the store keeps: each caller may keep so many bytes, and all callers of this process. */

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { Clock } from '../../../base/clock.ts'
import { Bucket } from '../../../base/rate.ts'
import type { SharedValues } from '../../../protocol/interfaces/replaceable-services.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'

/** What the store needs for a value in addition to its text. */
const VALUE_BYTES = 200
/** The time in which a caller may keep as much again. Values that are kept for a shorter time count less. */
const PERIOD_MS = 15 * 60_000
/** Callers whose bytes are remembered. The limit for all callers holds if there are more. */
const MAX_CALLERS = 10_000

export class CallerValues {
  readonly #values: SharedValues
  readonly #clock: Clock
  readonly #perCaller: number
  readonly #all: Bucket
  readonly #callers = new BoundedMap<string, Bucket>(MAX_CALLERS)

  constructor(values: SharedValues, { maxRoundBytes, maxRoundBytesPerCaller }: AllHttpLimits, clock: Clock) {
    this.#values = values
    this.#clock = clock
    this.#perCaller = maxRoundBytesPerCaller
    this.#all = this.#bucket(maxRoundBytes)
  }

  /** Beyond the limit nothing is kept: a round that is repeated runs again. */
  of({ kind, key }: CallerUsage): SharedValues {
    const values = this.#values
    return {
      kept: (name) => values.kept(name),
      // A caller has as many locks as requests in progress, which have a limit.
      lock: (name, ttlMs) => values.lock(name, ttlMs),
      extend: (name, token, ttlMs) => values.extend(name, token, ttlMs),
      unlock: (name, token) => values.unlock(name, token),
      keep: async (name, value, ttlMs) => {
        const bytes = Math.ceil((value.length + VALUE_BYTES) * Math.min(1, ttlMs / PERIOD_MS))
        return this.#hasRoom(`${kind} ${key}`, bytes) ? values.keep(name, value, ttlMs) : value
      },
    }
  }

  #hasRoom(caller: string, bytes: number): boolean {
    const now = this.#clock.now()
    const bucket = this.#callers.get(caller) ?? this.#bucket(this.#perCaller)
    this.#callers.set(caller, bucket)
    return bucket.take(now, bytes) === 0 && this.#all.take(now, bytes) === 0
  }

  #bucket(bytes: number): Bucket {
    return new Bucket({ burst: bytes, perSecond: (bytes * 1000) / PERIOD_MS }, this.#clock.now())
  }
}
