/** A token bucket: so many at once, so many a second after that. */

export interface Rate {
  perSecond: number
  burst: number
}

export class Bucket {
  readonly #rate: Rate
  /** In thousandths, so that whole rates and whole milliseconds add up without rounding. */
  #thousandths: number
  #filledAt: number

  constructor(rate: Rate, now: number) {
    this.#rate = rate
    this.#thousandths = rate.burst * 1000
    this.#filledAt = now
  }

  /** Takes one token; returns 0, or how many milliseconds to wait for the next. */
  take(now: number): number {
    const { perSecond, burst } = this.#rate
    this.#thousandths = Math.min(burst * 1000, this.#thousandths + (now - this.#filledAt) * perSecond)
    this.#filledAt = now
    if (this.#thousandths < 1000) return Math.ceil((1000 - this.#thousandths) / perSecond)
    this.#thousandths -= 1000
    return 0
  }
}
