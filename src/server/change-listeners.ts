/** The sessions and listen requests that want change notices, with one subscription to the bus for all of them. */

import { callListeners } from '../base/call-observer.ts'
import { reportError } from '../base/report-error.ts'
import { TurnBudget } from '../base/turn-budget.ts'
import type { Bus, Change } from '../protocol/interfaces/replaceable-services.ts'

export interface ChangeListener {
  /** A promise means that the client reads slowly. Wait for it before you send more. */
  tell(change: Change): undefined | Promise<void>
  /** Every change without content that the client wants to hear of. */
  wanted(): Iterable<Change>
}

/** Notices of `tellAll` in one turn of the event loop, to all listeners together. */
const NOTICES_PER_TURN = 32

export class ChangeListeners {
  readonly #bus: Bus
  readonly #hearers = new Set<ChangeListener>()
  readonly #told = new WeakSet<Change>()
  /** Listeners that `tellAll` is serving. `true`: serve them once more. */
  readonly #tellingAll = new Map<ChangeListener, boolean>()
  /** Without it, all notices of all listeners would go out in one turn, and this replica would lose its lease. */
  readonly #budget = new TurnBudget(NOTICES_PER_TURN)
  #unsubscribe: (() => void) | undefined

  constructor(bus: Bus) {
    this.#bus = bus
  }

  add(hearer: ChangeListener): void {
    this.#hearers.add(hearer)
    this.#unsubscribe ??= this.#bus.subscribe(
      (change) => this.tell(change),
      () => this.tellAll(),
    )
  }

  delete(hearer: ChangeListener): void {
    if (!this.#hearers.delete(hearer) || this.#hearers.size > 0) return
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
  }

  /** For changes elsewhere: each endpoint of this server hears of them, and passes on the same object. */
  tellOnce(change: Change): void {
    if (this.#told.has(change)) return
    this.#told.add(change)
    this.tell(change)
  }

  tell(change: Change): void {
    callListeners(this.#hearers, (hearer) => hearer.tell(change), 'changes')
  }

  /** Changes were missed. An extra notice does no harm: the client reads the same data again. */
  tellAll(): void {
    for (const hearer of this.#hearers) {
      if (this.#tellingAll.has(hearer)) this.#tellingAll.set(hearer, true)
      else void this.#tellAllTo(hearer)
    }
  }

  async #tellAllTo(hearer: ChangeListener): Promise<void> {
    try {
      do {
        this.#tellingAll.set(hearer, false)
        for (const change of hearer.wanted()) {
          const turn = this.#budget.take()
          if (turn) await turn
          if (!this.#hearers.has(hearer)) return
          await hearer.tell(change)
        }
      } while (this.#tellingAll.get(hearer))
    } catch (error) {
      reportError('portico: a listener for changes failed:', error)
    } finally {
      this.#tellingAll.delete(hearer)
    }
  }
}
