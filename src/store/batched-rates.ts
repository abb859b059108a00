/** Rate limits of all replicas, with few questions to the store: a caller that is fast gets its tokens in batches. */

import { BoundedMap } from '../base/bounded-map.ts'
import type { Rate } from '../base/rate.ts'
import type { Counters } from '../protocol/interfaces/counters.ts'
import type { SharedRates } from '../protocol/interfaces/replaceable-services.ts'

/** Callers that are remembered. Those that were forgotten ask the store again. */
const MAX_CALLERS = 10_000
/** How long tokens may wait for a request. What was not used then is lost to the caller. */
const BATCH_MS = 1000
/** The part of the burst that one replica may take in advance. */
const BATCH_PART = 20

interface Waiting {
  tokens: number
  resolve(waitMs: number): void
  reject(error: unknown): void
}

interface Caller {
  left: number
  /** When the tokens in `left` are lost. */
  until: number
  /** Until then the bucket in the store has too few tokens. */
  blockedUntil: number
  /** Tokens to take in advance. Grows while the caller uses them up in time. */
  advance: number
  waiting: Waiting[]
}

/**
 * All replicas together never accept more than the rate allows, and what they took in advance: at most a twentieth of the burst each,
 * for at most a second.
 */
export class BatchedRates implements SharedRates {
  readonly #counters: Counters
  readonly #now: () => number
  readonly #callers = new BoundedMap<string, Caller>(MAX_CALLERS)

  constructor(counters: Counters, now: () => number = () => performance.now()) {
    this.#counters = counters
    this.#now = now
  }

  take(key: string, rate: Rate, tokens: number): number | Promise<number> {
    const now = this.#now()
    const caller = this.#of(key)
    if (caller.until <= now && caller.left > 0) {
      // The caller has become slower.
      caller.left = 0
      caller.advance = Math.floor(caller.advance / 2)
    }
    // Requests that came before wait for tokens, too.
    if (caller.waiting.length === 0) {
      if (caller.left >= tokens) {
        caller.left -= tokens
        return 0
      }
      if (caller.blockedUntil > now) return Math.ceil(caller.blockedUntil - now)
    }
    return new Promise((resolve, reject) => {
      caller.waiting.push({ tokens, resolve, reject })
      if (caller.waiting.length === 1) void this.#ask(key, rate, caller)
    })
  }

  #of(key: string): Caller {
    let caller = this.#callers.get(key)
    if (!caller) {
      caller = { left: 0, until: 0, blockedUntil: 0, advance: 0, waiting: [] }
      this.#callers.set(key, caller)
    }
    return caller
  }

  /** Asks the store until nothing waits. What comes meanwhile is in the next question. */
  async #ask(key: string, rate: Rate, caller: Caller): Promise<void> {
    const most = Math.floor(rate.burst / BATCH_PART)
    if (caller.until > this.#now()) caller.advance = Math.min(most, caller.advance * 2 || 1)
    // All that comes in this turn is one question.
    await Promise.resolve()
    while (caller.waiting.length > 0) {
      const [first] = caller.waiting as [Waiting]
      const wanted = caller.waiting.reduce((sum, { tokens }) => sum + tokens, 0)
      const need = Math.max(0, first.tokens - caller.left)
      try {
        const sentAt = this.#now()
        const { tokens, waitMs } = await this.#counters.take(key, rate, need, Math.max(need, wanted - caller.left + caller.advance))
        caller.left += tokens
        caller.until = sentAt + BATCH_MS
        this.#serve(caller, sentAt, waitMs)
      } catch (error) {
        for (const { reject } of caller.waiting.splice(0)) reject(error)
      }
    }
  }

  #serve(caller: Caller, sentAt: number, waitMs: number): void {
    if (waitMs > 0) {
      const isEmpty = caller.waiting[0]?.tokens === 1
      if (isEmpty) caller.blockedUntil = sentAt + waitMs
      // A large request does not keep small ones from their tokens.
      for (const { resolve } of caller.waiting.splice(0, isEmpty ? caller.waiting.length : 1)) resolve(waitMs)
      return
    }
    for (let next = caller.waiting[0]; next && next.tokens <= caller.left; next = caller.waiting[0]) {
      caller.left -= next.tokens
      caller.waiting.shift()
      next.resolve(0)
    }
  }
}
