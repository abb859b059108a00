/** One timer for any number of deadlines: setting and clearing one costs a set insertion, not a timer. */

import type { Clock, Timer } from './clock.ts'

export interface Deadline {
  at: number
  fire: () => void
}

export interface DeadlinesOptions {
  /** An open deadline keeps the process alive: someone waits for what it guards. */
  holdsProcess?: boolean
}

export class Deadlines {
  readonly #clock: Clock
  readonly #holdsProcess: boolean
  readonly #open = new Set<Deadline>()
  #timer: Timer | undefined
  #timerAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock, options: DeadlinesOptions = {}) {
    this.#clock = clock
    this.#holdsProcess = options.holdsProcess ?? false
  }

  now(): number {
    return this.#clock.now()
  }

  set(ms: number, fire: () => void): Deadline {
    const deadline = { at: this.#clock.now() + ms, fire }
    this.#open.add(deadline)
    if (deadline.at < this.#timerAt) this.#arm(deadline.at)
    else if (this.#holdsProcess && this.#open.size === 1) this.#timer?.hold(true)
    return deadline
  }

  /** Moves a deadline. To a later time it costs nothing: the timer finds out when it fires. */
  move(deadline: Deadline, ms: number): void {
    deadline.at = this.#clock.now() + ms
    if (deadline.at < this.#timerAt) this.#arm(deadline.at)
  }

  clear(deadline: Deadline): void {
    this.#open.delete(deadline)
    if (this.#holdsProcess && this.#open.size === 0) this.#timer?.hold(false)
  }

  #arm(at: number): void {
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = this.#clock.after(Math.max(0, at - this.#clock.now()), () => this.#sweep())
    if (this.#holdsProcess) this.#timer.hold(true)
  }

  #sweep(): void {
    this.#timerAt = Number.POSITIVE_INFINITY
    this.#timer = undefined
    const now = this.#clock.now()
    let next = Number.POSITIVE_INFINITY
    for (const deadline of this.#open) {
      if (deadline.at > now) {
        if (deadline.at < next) next = deadline.at
        continue
      }
      this.#open.delete(deadline)
      deadline.fire()
    }
    if (next < this.#timerAt) this.#arm(next)
  }
}
