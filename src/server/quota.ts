/** What one caller may still do: its token buckets, made when first needed. */

import { McpError } from '../protocol/errors.ts'
import { Bucket } from '../protocol/rate.ts'
import type { ServerLimits } from './limits.ts'

type Metered = 'toolCalls' | 'completions' | 'logMessages'

export class Quota {
  readonly #limits: ServerLimits
  readonly #now: () => number
  readonly #buckets = new Map<Metered, Bucket>()

  constructor(limits: ServerLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  /** Throws ERR_RATE_LIMITED, saying when to come back. */
  spend(what: 'toolCalls' | 'completions'): void {
    const retryAfterMs = this.tryTake(what)
    if (retryAfterMs === 0) return
    const rate = this.#limits[what]
    const allowed = rate === false ? '' : `${rate.perSecond} a second, ${rate.burst} at once`
    throw new McpError('ERR_RATE_LIMITED', `Too many requests: ${allowed} (limits.${what})`, {
      data: { reason: 'rate-limited', limit: what, retryAfterMs },
    })
  }

  tryTake(what: Metered): number {
    const rate = this.#limits[what]
    if (rate === false) return 0
    const now = this.#now()
    let bucket = this.#buckets.get(what)
    if (!bucket) {
      bucket = new Bucket(rate, now)
      this.#buckets.set(what, bucket)
    }
    return bucket.take(now)
  }
}
