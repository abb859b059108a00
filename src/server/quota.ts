/** Rate limits per caller. */

import { BoundedMap } from '../base/bounded-map.ts'
import { Bucket } from '../base/rate.ts'
import { McpError } from '../protocol/errors.ts'
import type { ServerLimits } from './limits.ts'

type Metered = 'toolCalls' | 'completions' | 'logMessages'

export interface QuotaSurroundings {
  readonly limits: ServerLimits
  now(): number
}

/** The rate limits of one caller. Buckets are created on first use. */
export class Quota {
  readonly #around: QuotaSurroundings
  readonly #buckets = new Map<Metered, Bucket>()

  constructor(around: QuotaSurroundings) {
    this.#around = around
  }

  /** Throws ERR_RATE_LIMITED with the time to wait. */
  spend(what: 'toolCalls' | 'completions'): void {
    const retryAfterMs = this.tryTake(what)
    if (retryAfterMs === 0) return
    const rate = this.#around.limits[what]
    const allowed = rate === false ? '' : `${rate.perSecond} a second, ${rate.burst} at once`
    throw new McpError('ERR_RATE_LIMITED', `Too many requests: ${allowed} (limits.${what})`, {
      data: { reason: 'rate-limited', limit: what, retryAfterMs },
    })
  }

  /** Returns 0, or the milliseconds to wait. */
  tryTake(what: Metered): number {
    const rate = this.#around.limits[what]
    if (rate === false) return 0
    const now = this.#around.now()
    let bucket = this.#buckets.get(what)
    if (!bucket) {
      bucket = new Bucket(rate, now)
      this.#buckets.set(what, bucket)
    }
    return bucket.take(now)
  }
}

/** A limit on memory: beyond it the oldest account is forgotten, and starts with full buckets when it returns. */
const MAX_ACCOUNTS = 10_000

/** One quota per account, shared by all sessions and stateless requests of that account. */
export class Quotas {
  readonly #around: QuotaSurroundings
  readonly #quotas = new BoundedMap<string, Quota>(MAX_ACCOUNTS)

  constructor(around: QuotaSurroundings) {
    this.#around = around
  }

  of(account: string): Quota {
    let quota = this.#quotas.get(account)
    if (!quota) {
      quota = new Quota(this.#around)
      this.#quotas.set(account, quota)
    }
    return quota
  }
}
