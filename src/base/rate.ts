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

  /** Takes one token and returns 0; or returns the milliseconds to wait for the next one. */
  take(now: number): number {
    const { perSecond, burst } = this.#rate
    this.#thousandths = Math.min(burst * 1000, this.#thousandths + (now - this.#filledAt) * perSecond)
    this.#filledAt = now
    if (this.#thousandths < 1000) return Math.ceil((1000 - this.#thousandths) / perSecond)
    this.#thousandths -= 1000
    return 0
  }
}
