/** One-time codes: the terminal prints one in a link, and a page exchanges it for a session. */

import type { Clock } from '../../base/clock.ts'
import { Bucket } from '../../base/rate.ts'
import { ApiError } from '../errors.ts'
import type { ConsoleLimits } from '../limits.ts'
import { digestOf, isSame, newSecret } from './secret.ts'

/** The terminal prints links. An open window makes codes for further windows, and must not push out a printed link. */
type Purpose = 'link' | 'window'

interface Code {
  purpose: Purpose
  digest: Buffer
  expiresAt: number
}

type CodeLimits = Pick<ConsoleLimits, 'maxCodes' | 'codeTtlMs' | 'wrongCodes'>

export class Codes {
  readonly #limits: CodeLimits
  readonly #clock: Clock
  readonly #wrong: Bucket
  /** Until when wrong codes are refused without a look at the rate. */
  #lockedUntil = 0
  /** Oldest first. */
  #codes: Code[] = []

  constructor(limits: CodeLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
    this.#wrong = new Bucket(limits.wrongCodes, clock.now())
  }

  /** Makes a code that works once. */
  issue(purpose: Purpose): string {
    const { maxCodes, codeTtlMs } = this.#limits
    const code = newSecret()
    const live = this.#live()
    const same = live.filter((each) => each.purpose === purpose)
    const replaced = new Set(same.slice(0, Math.max(0, same.length - maxCodes + 1)))
    this.#codes = [
      ...live.filter((each) => !replaced.has(each)),
      { purpose, digest: digestOf(code), expiresAt: this.#clock.now() + codeTtlMs },
    ]
    return code
  }

  /** Uses up a code. @throws ApiError 401 for a wrong code, 429 after too many of them */
  redeem(given: string): void {
    const now = this.#clock.now()
    const digest = digestOf(given)
    const live = this.#live()
    // Looks at every code, so that the time says nothing about them.
    const matching = live.filter((code) => isSame(code.digest, digest))
    if (matching.length > 0) {
      this.#codes = live.filter((code) => !matching.includes(code))
      return
    }
    // Only wrong codes are limited. Otherwise another program could keep the person out with wrong ones.
    if (now < this.#lockedUntil) throw this.#locked(this.#lockedUntil - now)
    const waitMs = this.#wrong.take(now)
    if (waitMs > 0) {
      this.#lockedUntil = now + waitMs
      throw this.#locked(waitMs)
    }
    throw new ApiError(401, 'ERR_CODE', 'The code is wrong, was used already or has expired. Open the newest link that the console printed')
  }

  #live(): Code[] {
    const now = this.#clock.now()
    return this.#codes.filter(({ expiresAt }) => now < expiresAt)
  }

  #locked(waitMs: number): ApiError {
    const seconds = Math.ceil(waitMs / 1000)
    return new ApiError(429, 'ERR_RATE_LIMITED', `Too many wrong codes (wrongCodes): try again in ${seconds} s`, {
      headers: { 'retry-after': String(seconds) },
    })
  }
}
