/** Requests that ended while Redis could not be reached. They would count as in progress until the session ends. */

import { BoundedMap } from '../base/bounded-map.ts'
import type { McpError } from '../protocol/errors.ts'

const RETRY_MS = 500
const MAX_LATE = 10_000

export class LateLeaves {
  readonly #leave: (sid: string, call: string) => Promise<void>
  readonly #late = new BoundedMap<string, [sid: string, call: string]>(MAX_LATE)
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(leave: (sid: string, call: string) => Promise<void>) {
    this.#leave = leave
  }

  add(sid: string, call: string): void {
    this.#late.set(`${sid} ${call}`, [sid, call])
    this.#tryLater()
  }

  #tryLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#tryAll()
    }, RETRY_MS).unref()
  }

  async #tryAll(): Promise<void> {
    for (const [name, [sid, call]] of [...this.#late]) {
      try {
        await this.#leave(sid, call)
        this.#late.delete(name)
      } catch (error) {
        // A store that was closed does not open again.
        if ((error as McpError).code !== 'ERR_CLOSED') this.#tryLater()
        return
      }
    }
  }
}
