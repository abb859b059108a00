/** Counts what a caller uses at all replicas together, such as requests in progress. */

import { randomId } from '../../../base/bytes.ts'
import type { Counters } from '../../../protocol/interfaces/counters.ts'
import type { Refusal } from '../refusal.ts'
import { askEach, isAway } from '../shared/ask-each.ts'
import { type CallerLimit, tooMany } from './caller-limits.ts'
import type { CallerUsage } from './caller-usage.ts'

export interface PlaceKind extends CallerLimit {
  max: number
  /** What the caller uses at this replica. */
  used(usage: CallerUsage): number
  /** The most places that a replica holds in advance, so that it need not ask the store for each request. */
  spare: number
}

/** Larger than any limit, and exact in every store. */
const NO_MAX = Number.MAX_SAFE_INTEGER

interface Places {
  /** The last one of this caller that was seen. A usage without anything in it may be replaced by another. */
  usage: CallerUsage
  /** Requests that were let in, and that the usage does not count yet. */
  entering: number
  granted: number
  /** Until then the store knows of the granted places. */
  until: number
  asking: Promise<boolean> | undefined
}

export class SharedPlaces {
  readonly #kind: PlaceKind
  readonly #counters: Counters
  readonly #ttlMs: number
  readonly #now: () => number
  readonly #holder = randomId()
  readonly #callers = new Map<string, Places>()
  #renewing: Promise<unknown> | undefined

  /** @param ttlMs how long places are held without a renewal */
  constructor(kind: PlaceKind, counters: Counters, ttlMs: number, now: () => number) {
    this.#kind = kind
    this.#counters = counters
    this.#ttlMs = ttlMs
    this.#now = now
  }

  /**
   * Asks for one more place, or for one for each request of a batch. Call `entered` as soon as the usage counts them, or when they are
   * not needed.
   *
   * @returns undefined if there is a place; otherwise a promise for a refusal. It rejects with ERR_STORE_DOWN.
   */
  enter(usage: CallerUsage, requests = 1): undefined | Promise<Refusal | undefined> {
    if (requests > this.#kind.max) return Promise.resolve(this.#refusal(requests))
    const places = this.#at(usage)
    places.entering += requests
    return this.#hasRoom(places) ? undefined : this.#wait(places, requests)
  }

  entered(usage: CallerUsage, requests = 1): void {
    const places = this.#callers.get(usage.key)
    if (places) places.entering -= requests
  }

  /** Holds places for all that the usage counts, also for what did not ask for one. If the store is away, the next renewal does. */
  async hold(usage: CallerUsage): Promise<void> {
    const places = this.#at(usage)
    while (this.#kind.used(usage) > places.granted) await this.#ask(places)
  }

  /** Keeps the places that are in use, and gives back the others. Does not reject: requests that need the store say what is wrong. */
  renew(): Promise<unknown> {
    // For thousands of callers it takes longer than the time until the next one.
    this.#renewing ??= askEach(
      this.#callers.values(),
      (places) => this.#renew(places),
      () => {},
    ).finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renew(places: Places): Promise<void> {
    if (!this.#isKnown(places)) return
    try {
      await this.#ask(places)
    } catch (error) {
      // Places that could not be given back are asked about again, unless what the store has of this caller is damaged.
      if (isAway(error)) throw error
    }
    this.#forgetUnused(places)
  }

  /** Gives all places back. Does not reject: without the store they are given back when their time is over. */
  async close(): Promise<void> {
    const keys = [...this.#callers.keys()]
    this.#callers.clear()
    const { max } = this.#kind
    await askEach(
      keys,
      (key) => this.#counters.hold(this.#name(key), this.#holder, 0, max, 1),
      () => {},
    )
  }

  #at(usage: CallerUsage): Places {
    let places = this.#callers.get(usage.key)
    if (!places) {
      places = { usage, entering: 0, granted: 0, until: 0, asking: undefined }
      this.#callers.set(usage.key, places)
    }
    places.usage = usage
    return places
  }

  #forgetUnused(places: Places): void {
    if (places.granted === 0 && this.#need(places) === 0 && this.#isKnown(places)) this.#callers.delete(places.usage.key)
  }

  /** False once it was forgotten. Another one may have begun for this caller. */
  #isKnown(places: Places): boolean {
    return this.#callers.get(places.usage.key) === places
  }

  #need({ usage, entering }: Places): number {
    return this.#kind.used(usage) + entering
  }

  #hasRoom(places: Places): boolean {
    return this.#need(places) <= places.granted && this.#now() < places.until
  }

  async #wait(places: Places, requests: number): Promise<Refusal | undefined> {
    try {
      // A question that was on its way does not know of this request.
      while (!(await this.#ask(places)) && this.#need(places) > places.granted);
    } catch (error) {
      places.entering -= requests
      this.#forgetUnused(places)
      throw error
    }
    if (this.#need(places) <= places.granted) return undefined
    places.entering -= requests
    // Others must not wait for the places that were too few for this batch.
    if (requests > 1) this.#ask(places).catch(() => {})
    return this.#refusal(requests)
  }

  #refusal(requests: number): Refusal {
    return tooMany(this.#kind, this.#kind.max, requests)
  }

  /** One question at a time. Resolves to true if all places are taken. */
  #ask(places: Places): Promise<boolean> {
    places.asking ??= this.#hold(places).finally(() => {
      places.asking = undefined
    })
    return places.asking
  }

  async #hold(places: Places): Promise<boolean> {
    const { max, spare, used } = this.#kind
    const running = used(places.usage)
    // What runs cannot be refused. It began at another replica, or the store was away until the places were void.
    if (running > places.granted) await this.#counters.hold(this.#name(places.usage.key), this.#holder, running, NO_MAX, this.#ttlMs)
    const need = this.#need(places)
    const wanted = Math.max(running, Math.min(max, need + Math.min(spare, need)))
    // Places that are given back must not be used meanwhile.
    places.granted = Math.min(places.granted, wanted)
    const sentAt = this.#now()
    places.granted = await this.#counters.hold(this.#name(places.usage.key), this.#holder, wanted, max, this.#ttlMs)
    places.until = sentAt + this.#ttlMs
    return places.granted < wanted || need > max
  }

  #name(key: string): string {
    return `${this.#kind.limit} ${key}`
  }
}
