/** Counts refused credentials by address. An address with too many is told to wait. */

import { BoundedMap } from '../../../base/bounded-map.ts'
import { toBase64Url } from '../../../base/bytes.ts'
import { Bucket, type Rate } from '../../../base/rate.ts'
import { busy, type Refusal } from '../refusal.ts'
import { addressKey } from './client-address.ts'

/** Addresses remembered. The oldest is forgotten first. */
const MAX_ADDRESSES = 10_000

interface Known {
  bucket: Bucket
  /** The digest of the credentials that were refused last. */
  lastDigest: string | undefined
}

/** Counts refused credentials. */
export interface LoginFailures {
  /** Counts a failure, and returns 0; or the milliseconds that the address must wait, when there were too many. */
  count(address: string | undefined, credentials: string): Promise<number>
}

export class FailedLogins implements LoginFailures {
  readonly #rate: Rate | false
  readonly #now: () => number
  readonly #addresses = new BoundedMap<string, Known>(MAX_ADDRESSES)

  constructor(rate: Rate | false, now: () => number) {
    this.#rate = rate
    this.#now = now
  }

  /**
   * Repeating the same credentials does not count: a client whose token has expired fails in every request that it has sent.
   */
  async count(address: string | undefined, credentials: string): Promise<number> {
    const rate = this.#rate
    if (rate === false) return 0
    const digest = await digestOf(credentials)
    const known = this.#of(addressKey(address ?? ''), rate)
    if (known.lastDigest === digest) return 0
    const waitMs = known.bucket.take(this.#now())
    if (waitMs === 0) known.lastDigest = digest
    return waitMs
  }

  #of(address: string, rate: Rate): Known {
    let known = this.#addresses.get(address)
    if (!known) {
      known = { bucket: new Bucket(rate, this.#now()), lastDigest: undefined }
      this.#addresses.set(address, known)
    }
    return known
  }
}

export const tooManyFailures = (max: number, waitMs: number): Refusal => ({
  ...busy(429, 'failedLogins', max, 'refused credentials from one address'),
  headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
})

/** Recognizes repeated credentials without storing them. Collision-resistant, so that different guesses never look the same. */
export async function digestOf(credentials: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(credentials))))
}

const encoder = new TextEncoder()
