/** Subscriptions of the console to resources. All windows share them. */

import { randomUUID } from 'node:crypto'
import type { SubscriptionView } from './api.ts'
import { notFound, tooMany } from './errors.ts'
import type { ConsoleLimits } from './limits.ts'

interface Subscription {
  view: SubscriptionView
  stop(): void
}

export class Subscriptions {
  readonly #limits: Pick<ConsoleLimits, 'maxSubscriptions'>
  readonly #all = new Map<string, Subscription>()
  /** Subscriptions that are being opened count, too. */
  #opening = 0

  constructor(limits: Pick<ConsoleLimits, 'maxSubscriptions'>) {
    this.#limits = limits
  }

  list(): SubscriptionView[] {
    return [...this.#all.values()].map(({ view }) => view)
  }

  /** @throws ApiError 429 */
  checkRoom(): void {
    const { maxSubscriptions } = this.#limits
    if (this.#all.size + this.#opening >= maxSubscriptions)
      throw tooMany(`There are ${maxSubscriptions} subscriptions already (maxSubscriptions): end one first`)
  }

  /** @param open resolves with the function that ends the subscription */
  async add(uri: string, open: (view: SubscriptionView) => Promise<() => void>): Promise<SubscriptionView> {
    this.checkRoom()
    this.#opening++
    try {
      const view = { id: randomUUID(), uri }
      this.#all.set(view.id, { view, stop: await open(view) })
      return view
    } finally {
      this.#opening--
    }
  }

  /** @throws ApiError 404 */
  remove(id: string): void {
    const found = this.#all.get(id)
    if (!found) throw notFound(`No subscription has the id ${JSON.stringify(id)}`)
    this.#all.delete(id)
    found.stop()
  }

  close(): void {
    for (const { view } of [...this.#all.values()]) this.remove(view.id)
  }
}
