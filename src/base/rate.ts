/** A token bucket. */

/** A rate limit: `burst` at once, then `perSecond`. */
export interface Rate {
  perSecond: number
  burst: number
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
