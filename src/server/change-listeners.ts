/** The sessions and listen requests that want change notices, with one subscription to the bus for all of them. */

import type { Bus, Change } from '../protocol/interfaces/replaceable-services.ts'

export interface ChangeListener {
  tell(change: Change): void
}

export class ChangeListeners {
  readonly #bus: Bus
  readonly #hearers = new Set<ChangeListener>()
  #unsubscribe: (() => void) | undefined

  constructor(bus: Bus) {
    this.#bus = bus
  }

  add(hearer: ChangeListener): void {
    this.#hearers.add(hearer)
    this.#unsubscribe ??= this.#bus.subscribe((change) => this.tell(change))
  }

  delete(hearer: ChangeListener): void {
    if (!this.#hearers.delete(hearer) || this.#hearers.size > 0) return
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
  }

  tell(change: Change): void {
    for (const hearer of this.#hearers) {
      try {
        hearer.tell(change)
      } catch (error) {
        // A listener that fails must not stop the others.
        console.error('portico: a listener for changes failed:', error)
      }
    }
  }
}
