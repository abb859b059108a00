/** Counts refused credentials by address at all replicas together. */

import type { Rate } from '../../../base/rate.ts'
import type { Counters } from '../../../protocol/interfaces/counters.ts'
import { addressKey } from './client-address.ts'
import { digestOf, type LoginFailures } from './failed-logins.ts'

/** How long credentials that were refused are not counted again. */
const KNOWN_MS = 60_000

export class SharedFailedLogins implements LoginFailures {
  readonly #rate: Rate | false
  readonly #counters: Counters

  constructor(rate: Rate | false, counters: Counters) {
    this.#rate = rate
    this.#counters = counters
  }

  /** Rejects with ERR_STORE_DOWN. */
  async count(address: string | undefined, credentials: string): Promise<number> {
    const rate = this.#rate
    if (rate === false) return 0
    const key = addressKey(address ?? '')
    // A client whose token has expired fails in every request that it has sent, at several replicas.
    if (!(await this.#counters.first(`failed login ${key} ${await digestOf(credentials)}`, KNOWN_MS))) return 0
    return (await this.#counters.take(`failed logins ${key}`, rate)).waitMs
  }
}
