/** Measures the commands of a store, if there is a listener. */

import { callObserver } from '../base/call-observer.ts'
import { McpError } from '../protocol/errors.ts'
import type { StoreCommand } from '../protocol/interfaces/store-command.ts'

export class CommandListeners {
  readonly #listeners = new Set<(command: StoreCommand) => void>()

  add(listener: (command: StoreCommand) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async measure<T>(name: string, run: () => Promise<T>): Promise<T> {
    if (this.#listeners.size === 0) return run()
    const startedAt = performance.now()
    let outcome: StoreCommand['outcome'] = 'error'
    try {
      const result = await run()
      outcome = 'ok'
      return result
    } catch (error) {
      if (error instanceof McpError && error.code === 'ERR_STORE_DOWN') outcome = 'down'
      throw error
    } finally {
      const durationMs = performance.now() - startedAt
      for (const listener of this.#listeners) callObserver('onCommand', () => listener({ name, durationMs, outcome }))
    }
  }
}
