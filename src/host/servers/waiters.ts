/** Promises that wait for the next change of a state. */

import { onAbort } from '../../base/on-abort.ts'

export class Waiters {
  readonly #waiting = new Set<() => void>()

  /** Resolves with the next `wake`. Rejects with the reason of the signal. */
  wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      let unwatch = (): void => {}
      const wake = (): void => {
        this.#waiting.delete(wake)
        unwatch()
        resolve()
      }
      this.#waiting.add(wake)
      if (!signal) return
      unwatch = onAbort(signal, () => {
        this.#waiting.delete(wake)
        reject(signal.reason as Error)
      })
    })
  }

  wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}
