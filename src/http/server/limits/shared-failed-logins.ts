/** Counts refused credentials by address at all replicas together. */

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { Rate } from '../../../base/rate.ts'
import type { Counters } from '../../../protocol/interfaces/counters.ts'
import type { Refusal } from '../refusal.ts'
import { addressKey } from './client-address.ts'
import { digestOf, type LoginFailures, tooManyFailures } from './failed-logins.ts'

/** Addresses that must wait. Others ask the store. */
const MAX_BLOCKED = 10_000
/** How long credentials that were refused are not counted again. */
const KNOWN_MS = 60_000

export class SharedFailedLogins implements LoginFailures {
  readonly #rate: Rate | false
  readonly #counters: Counters
  readonly #now: () => number
  /** Until when each address must wait, so that an attack does not reach the store. */
  readonly #blocked = new BoundedMap<string, number>(MAX_BLOCKED)

  constructor(rate: Rate | false, counters: Counters, now: () => number) {
    this.#rate = rate
    this.#counters = counters
    this.#now = now
  }

  /** Rejects with ERR_STORE_DOWN. */
  async count(address: string | undefined, credentials: string): Promise<Refusal | undefined> {
    const rate = this.#rate
    if (rate === false) return undefined
    const key = addressKey(address ?? '')
    const leftMs = (this.#blocked.get(key) ?? 0) - this.#now()
    if (leftMs > 0) return tooManyFailures(rate, leftMs)
    // A client whose token has expired fails in every request that it has sent, at several replicas.
    if (!(await this.#counters.first(`failed login ${key} ${await digestOf(credentials)}`, KNOWN_MS))) return undefined
    const { waitMs } = await this.#counters.take(`failed logins ${key}`, rate)
    if (waitMs === 0) return undefined
    this.#blocked.set(key, this.#now() + waitMs)
    return tooManyFailures(rate, waitMs)
  }
}
