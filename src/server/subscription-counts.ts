/** Counts the subscriptions of each caller in this process, and of all callers. */

import { checkSubscriptions, subscriptionBounds, weightOf } from '../protocol/subscription-bounds.ts'
import type { ServerLimits } from './limits.ts'

export class SubscriptionCounts {
  readonly #server: { readonly limits: ServerLimits }
  readonly #callers = new Map<string, number>()
  #all = 0

  /** @param server its limits can change before it serves */
  constructor(server: { readonly limits: ServerLimits }) {
    this.#server = server
  }

  /**
   * Counts URIs. Throws ERR_LIMIT if there are too many, and counts none.
   *
   * @param caller undefined for a connection, whose session has its own limit
   * @returns what to give back
   */
  take(caller: string | undefined, uris: readonly string[]): number {
    const weight = uris.reduce((sum, uri) => sum + weightOf(uri), 0)
    const own = caller === undefined ? 0 : (this.#callers.get(caller) ?? 0) + weight
    if (weight > 0) checkSubscriptions(own, this.#all + weight, subscriptionBounds(this.#server.limits.maxSubscriptions))
    this.#change(caller, weight)
    return weight
  }

  give(caller: string | undefined, weight: number): void {
    this.#change(caller, -weight)
  }

  #change(caller: string | undefined, weight: number): void {
    if (weight === 0) return
    this.#all += weight
    if (caller === undefined) return
    const own = (this.#callers.get(caller) ?? 0) + weight
    if (own > 0) this.#callers.set(caller, own)
    else this.#callers.delete(caller)
  }
}
