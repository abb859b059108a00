/** What one caller may still do: its token buckets, made when first needed. */

import { Bucket } from '../base/rate.ts'
import { McpError } from '../protocol/errors.ts'
import type { ServerLimits } from './limits.ts'

type Metered = 'toolCalls' | 'completions' | 'logMessages'

export interface QuotaSurroundings {
  readonly limits: ServerLimits
  now(): number
}

export class Quota {
  readonly #around: QuotaSurroundings
  readonly #buckets = new Map<Metered, Bucket>()

  constructor(around: QuotaSurroundings) {
    this.#around = around
  }

  /** Throws ERR_RATE_LIMITED, saying when to come back. */
  spend(what: 'toolCalls' | 'completions'): void {
    const retryAfterMs = this.tryTake(what)
    if (retryAfterMs === 0) return
    const rate = this.#around.limits[what]
    const allowed = rate === false ? '' : `${rate.perSecond} a second, ${rate.burst} at once`
    throw new McpError('ERR_RATE_LIMITED', `Too many requests: ${allowed} (limits.${what})`, {
      data: { reason: 'rate-limited', limit: what, retryAfterMs },
    })
  }

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
