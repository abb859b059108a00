/** A token bucket: so many at once, so many a second after that. */

export interface Rate {
  perSecond: number
  burst: number
}

export class Bucket {
  readonly #rate: Rate
  #tokens: number
  #filledAt: number

  constructor(rate: Rate, now: number) {
    this.#rate = rate
    this.#tokens = rate.burst
    this.#filledAt = now
  }

  /** Takes one token; returns 0, or how many milliseconds to wait for the next. */
  take(now: number): number {
    const { perSecond, burst } = this.#rate
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) * perSecond) / 1000)
    this.#filledAt = now
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) * 1000) / perSecond)
    this.#tokens -= 1
    return 0
  }
}
