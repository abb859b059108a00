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

  /** Few requests use it, so it costs little until then. */
  of(usage: CallerUsage): SharedValues {
    return new ValuesOfCaller(this.#values, this, usage)
  }

  /** Whether the caller may keep such a value. */
  hasRoom({ kind, key }: CallerUsage, value: string, ttlMs: number): boolean {
    const bytes = Math.ceil((value.length + VALUE_BYTES) * Math.min(1, ttlMs / PERIOD_MS))
    const caller = `${kind} ${key}`
    const now = this.#clock.now()
    const bucket = this.#callers.get(caller) ?? this.#bucket(this.#perCaller)
    this.#callers.set(caller, bucket)
    return bucket.take(now, bytes) === 0 && this.#all.take(now, bytes) === 0
  }

  #bucket(bytes: number): Bucket {
    return new Bucket({ burst: bytes, perSecond: (bytes * 1000) / PERIOD_MS }, this.#clock.now())
  }
}

class ValuesOfCaller implements SharedValues {
  readonly #values: SharedValues
  readonly #room: CallerValues
  readonly #usage: CallerUsage

  constructor(values: SharedValues, room: CallerValues, usage: CallerUsage) {
    this.#values = values
    this.#room = room
    this.#usage = usage
  }

  kept(name: string): Promise<string | undefined> {
    return this.#values.kept(name)
  }

  /** A caller has as many locks as requests in progress, which have a limit. */
  lock(name: string, ttlMs: number): Promise<string | undefined> {
    return this.#values.lock(name, ttlMs)
  }

  extend(name: string, token: string, ttlMs: number): Promise<boolean> {
    return this.#values.extend(name, token, ttlMs)
  }

  unlock(name: string, token: string): Promise<boolean> {
    return this.#values.unlock(name, token)
  }

  /** Beyond the limit nothing is kept: a round that is repeated runs again. */
  async keep(name: string, value: string, ttlMs: number): Promise<string> {
    return this.#room.hasRoom(this.#usage, value, ttlMs) ? this.#values.keep(name, value, ttlMs) : value
  }
}
