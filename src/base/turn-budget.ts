/** Spreads long work over turns of the event loop, so that the process stays able to answer and to renew its lease. */

export class TurnBudget {
  readonly #steps: number
  #left: number
  /** Callers that wait for a later turn, in order. If any wait, `#left` is 0. */
  #waiting: (() => void)[] = []
  #isTimed = false

  /** @param steps how many steps one turn does, for all work with this budget together */
  constructor(steps: number) {
    this.#steps = steps
    this.#left = steps
  }

  /** Call it before each step. If it returns a promise, wait for it first. */
  take(): undefined | Promise<void> {
    this.#time()
    if (this.#left === 0) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#left--
    return undefined
  }

  #time(): void {
    if (this.#isTimed) return
    this.#isTimed = true
    setTimeout(() => this.#beginTurn(), 0)
  }

  #beginTurn(): void {
    this.#isTimed = false
    const begin = this.#waiting.splice(0, this.#steps)
    this.#left = this.#steps - begin.length
    if (begin.length > 0) this.#time()
    for (const go of begin) go()
  }
}
