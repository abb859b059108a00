/** Pages that people were sent to and that are not complete yet, with the client to notify. */

import { BoundedMap } from '../../base/bounded-map.ts'

/** The largest number of remembered pages. Some are never completed, and the oldest is then forgotten. */
const MAX_OPEN = 10_000

export class OpenPages {
  readonly #open = new BoundedMap<string, () => void>(MAX_OPEN)

  add(elicitationId: string, onComplete: () => void): void {
    this.#open.set(elicitationId, onComplete)
  }

  /** Notifies only the client that asked. False when the id is unknown or already complete. */
  complete(elicitationId: string): boolean {
    const notify = this.#open.get(elicitationId)
    this.#open.delete(elicitationId)
    notify?.()
    return notify !== undefined
  }
}
