/** Who keeps coming with credentials that are none: told to wait, by address, instead of what was wrong with them. */

import { toBase64Url } from '../../../base/bytes.ts'
import { Bucket, type Rate } from '../../../base/rate.ts'
import { busy, type Refusal } from '../refusal.ts'
import { addressKey } from './address.ts'

/** How many addresses are remembered; the one known longest is forgotten. */
const MAX_ADDRESSES = 10_000

interface Known {
  bucket: Bucket
  /** Stands for the credentials that were refused last. */
  last: string | undefined
}

export class FailedLogins {
  readonly #rate: Rate | false
  readonly #now: () => number
  readonly #addresses = new Map<string, Known>()

  constructor(rate: Rate | false, now: () => number) {
    this.#rate = rate
    this.#now = now
  }

  /**
   * Counts a failure; a refusal in place of its own when there were too many. The same credentials again are no new
   * guess: a client whose token has ended finds that out in every request it has in hand.
   */
  async count(address: string | undefined, credentials: string): Promise<Refusal | undefined> {
    const rate = this.#rate
    if (rate === false) return undefined
    const mark = await markOf(credentials)
    const known = this.#of(addressKey(address ?? ''), rate)
    if (known.last === mark) return undefined
    const waitMs = known.bucket.take(this.#now())
    if (waitMs === 0) {
      known.last = mark
      return undefined
    }
    const refusal = busy(429, 'failedLogins', rate.burst, 'credentials that were refused, from one address')
    return { ...refusal, headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } }
  }

  #of(address: string, rate: Rate): Known {
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

/**
 * Enough to know the same credentials again, and nothing to get them back from. A digest that nobody can make collide:
 * whoever guesses would give every guess the mark of the one before.
 */
async function markOf(credentials: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(credentials))))
}

const encoder = new TextEncoder()
