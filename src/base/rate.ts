/** A token bucket. */

/** A rate limit: `burst` at once, then `perSecond`. */
export interface Rate {
  perSecond: number
  burst: number
}

const isPositive = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value > 0

/** Whether a value of a program without types is a rate. */
export function isRate(value: unknown): value is Rate {
  const { perSecond, burst, ...more } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  return isPositive(perSecond) && isPositive(burst) && Object.keys(more).length === 0
}

export class Bucket {
  readonly #rate: Rate
  /** In thousandths of a token, so that whole rates and whole milliseconds add up without rounding. */
  #thousandths: number
  #filledAt: number

  constructor(rate: Rate, now: number) {
    this.#rate = rate
    this.#thousandths = rate.burst * 1000
    this.#filledAt = now
  }

  /** Takes `tokens` and returns 0; or takes nothing and returns the milliseconds to wait for them. */
  take(now: number, tokens = 1): number {
    const { perSecond, burst } = this.#rate
    this.#thousandths = Math.min(burst * 1000, this.#thousandths + (now - this.#filledAt) * perSecond)
    this.#filledAt = now
    const cost = tokens * 1000
    if (this.#thousandths < cost) return Math.ceil((cost - this.#thousandths) / perSecond)
    this.#thousandths -= cost
    return 0
  }

  /** Takes as many whole tokens as there are, up to `most`. Returns their number. */
  takeUpTo(now: number, most: number): number {
    // Fills the bucket, too.
    this.take(now, 0)
    const tokens = Math.max(0, Math.min(most, Math.floor(this.#thousandths / 1000)))
    this.#thousandths -= tokens * 1000
    return tokens
  }
}
