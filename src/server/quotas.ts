/** The allowances of callers by account, so that many sessions or requests of one caller share one. */

import { Quota, type QuotaSurroundings } from './quota.ts'

/** How many accounts are remembered; the one that came first is forgotten, and starts afresh. */
const MAX_ACCOUNTS = 10_000

export class Quotas {
  readonly #around: QuotaSurroundings
  readonly #quotas = new Map<string, Quota>()

  constructor(around: QuotaSurroundings) {
    this.#around = around
  }

  of(account: string): Quota {
    let quota = this.#quotas.get(account)
    if (!quota) {
      const [oldest] = this.#quotas.keys()
      if (this.#quotas.size >= MAX_ACCOUNTS && oldest !== undefined) this.#quotas.delete(oldest)
      quota = new Quota(this.#around)
      this.#quotas.set(account, quota)
    }
    return quota
  }
}
