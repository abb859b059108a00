/** Subscriptions to resources of one server, which outlive its connections. */

import { asText } from '../../base/as-text.ts'
import type { Client } from '../../client/client.ts'
import { McpError } from '../../protocol/errors.ts'

interface Subscription {
  uri: string
  listener(uri: string): void
  /** Ends it on the current connection. Undefined without a connection. */
  stop: (() => void) | undefined
}

export class Subscriptions {
  readonly #all = new Set<Subscription>()
  readonly #max: number
  readonly #onWarning: (message: string) => void

  constructor(max: number, onWarning: (message: string) => void) {
    this.#max = max
    this.#onWarning = onWarning
  }

  /** Resolves with the function that ends the subscription. Without a client it begins with the next connection. */
  async add(uri: string, listener: (uri: string) => void, client: Client | undefined): Promise<() => void> {
    if (this.#all.size >= this.#max)
      throw new McpError('ERR_LIMIT', `The limit of ${this.#max} watched resources of a server is reached (maxSubscriptions)`)
    const subscription: Subscription = { uri, listener, stop: undefined }
    this.#all.add(subscription)
    try {
      if (client) await this.#begin(subscription, client)
    } catch (error) {
      this.#all.delete(subscription)
      throw error
    }
    return () => {
      this.#all.delete(subscription)
      subscription.stop?.()
      subscription.stop = undefined
    }
  }

  /** The connection was closed. */
  pause(): void {
    for (const subscription of this.#all) subscription.stop = undefined
  }

  /** Ends all subscriptions with a warning. */
  forget(): void {
    for (const { uri, stop } of this.#all) {
      stop?.()
      this.#onWarning(`Changes of ${uri} are no longer noticed: the server has changed`)
    }
    this.#all.clear()
  }

  /** Resumes on a new connection. Each listener is called once, because its resource may have changed in between. */
  async resume(client: Client): Promise<void> {
    for (const subscription of [...this.#all]) {
      try {
        await this.#begin(subscription, client)
      } catch (error) {
        if (client.isClosed) return
        this.#onWarning(`Changes of ${subscription.uri} are no longer noticed: ${asText(error)}`)
      }
      if (this.#all.has(subscription)) subscription.listener(subscription.uri)
    }
  }

  async #begin(subscription: Subscription, client: Client): Promise<void> {
    const stop = await client.onResourceChange(subscription.uri, (uri) => subscription.listener(uri))
    // The subscription may have been ended, or the connection closed, in the meantime.
    if (!this.#all.has(subscription)) stop()
    else if (!client.isClosed) subscription.stop = stop
  }
}
