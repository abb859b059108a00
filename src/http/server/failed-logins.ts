/** Who keeps coming with credentials that are none: told to wait, by address, instead of what was wrong with them. */

import { Bucket, type Rate } from '../../protocol/rate.ts'
import { busy, type Refusal } from './refusal.ts'

/** How many addresses are remembered; the one known longest is forgotten. */
const MAX_ADDRESSES = 10_000

export class FailedLogins {
  readonly #rate: Rate | false
  readonly #now: () => number
  readonly #addresses = new Map<string, { bucket: Bucket; last: number | undefined }>()

  constructor(rate: Rate | false, now: () => number) {
    this.#rate = rate
    this.#now = now
  }

  /**
   * Counts a failure; a refusal in place of its own when there were too many. The same credentials again are no new
   * guess: a client whose token has ended finds that out in every request it has in hand.
   */
  count(address: string | undefined, credentials: string): Refusal | undefined {
    const rate = this.#rate
    if (rate === false) return undefined
    const known = this.#of(address ?? '', rate)
    const mark = markOf(credentials)
    if (known.last === mark) return undefined
    const waitMs = known.bucket.take(this.#now())
    if (waitMs === 0) {
      known.last = mark
      return undefined
    }
    const refusal = busy(429, 'failedLogins', rate.burst, 'credentials that were refused, from one address')
    return { ...refusal, headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } }
  }

  #of(address: string, rate: Rate): { bucket: Bucket; last: number | undefined } {
    let known = this.#addresses.get(address)
    if (!known) {
      const [oldest] = this.#addresses.keys()
      if (this.#addresses.size >= MAX_ADDRESSES && oldest !== undefined) this.#addresses.delete(oldest)
      known = { bucket: new Bucket(rate, this.#now()), last: undefined }
      this.#addresses.set(address, known)
    }
    return known
  }
}

/** Enough to know the same credentials again, and nothing to get them back from. */
function markOf(credentials: string): number {
  let mark = 0
  for (let i = 0; i < credentials.length; i++) mark = (Math.imul(mark, 31) + credentials.charCodeAt(i)) | 0
  return mark
}
