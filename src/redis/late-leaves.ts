/** Requests that ended while Redis could not be reached. They would count as in progress until the session ends. */

import { BoundedMap } from '../base/bounded-map.ts'
import type { McpError } from '../protocol/errors.ts'
import { isDamaged } from './connection.ts'

const RETRY_MS = 500
const MAX_LATE = 10_000

/** A request that a replica has registered. Without an attempt it is the one that is registered at the time. */
export interface Registration {
  sid: string
  field: string
  replica: string
  attempt: string
}

const nameOf = ({ sid, field, replica, attempt }: Registration): string => JSON.stringify([sid, field, replica, attempt])

export class LateLeaves {
  readonly #leave: (registration: Registration) => Promise<void>
  readonly #late = new BoundedMap<string, Registration>(MAX_LATE)
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(leave: (registration: Registration) => Promise<void>) {
    this.#leave = leave
  }

  async leave(registration: Registration): Promise<void> {
    try {
      await this.#leave(registration)
    } catch (error) {
      if (!isDamaged(error)) this.add(registration)
      throw error
    }
  }

  add(registration: Registration): void {
    this.#late.set(nameOf(registration), registration)
    this.#tryLater()
  }

  /** Redis has done it, and only the reply was lost: the replica could register the id again. */
  forget(registration: Registration): void {
    if (this.#late.size > 0) this.#late.delete(nameOf(registration))
  }

  #tryLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#tryAll()
    }, RETRY_MS).unref()
  }

  async #tryAll(): Promise<void> {
    for (const [name, registration] of [...this.#late]) {
      // It may have been forgotten while others were tried.
      if (!this.#late.has(name)) continue
      try {
        await this.#leave(registration)
      } catch (error) {
        if (!isDamaged(error)) return this.#postpone(name, registration, error as McpError)
      }
      this.#late.delete(name)
    }
  }

  /** Next time another one is the first: only one node of a cluster may be away. */
  #postpone(name: string, registration: Registration, { code }: McpError): void {
    if (this.#late.has(name)) this.#late.set(name, registration)
    // A store that was closed does not open again.
    if (code !== 'ERR_CLOSED') this.#tryLater()
  }
}
