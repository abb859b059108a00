/** One timer for any number of deadlines: setting and clearing one costs two links, not a timer. */

import type { Clock, Timer } from '../base/clock.ts'

/**
 * A link of a list rather than an entry of a Set: a Set that is filled and emptied without pause leaves its outgrown
 * tables behind, and those keep alive what was in them until the next full collection.
 */
export abstract class Deadline {
  at = 0
  previous: Deadline | undefined
  next: Deadline | undefined

  abstract fire(): void
}

export interface DeadlinesOptions {
  /** An open deadline keeps the process alive: someone waits for what it guards. */
  holdsProcess?: boolean
}

export class Deadlines {
  readonly #clock: Clock
  readonly #holdsProcess: boolean
  #first: Deadline | undefined
  #last: Deadline | undefined
  #timer: Timer | undefined
  #timerAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock, options: DeadlinesOptions = {}) {
    this.#clock = clock
    this.#holdsProcess = options.holdsProcess ?? false
  }

  now(): number {
    return this.#clock.now()
  }

  /** Fires `deadline` after `ms`, unless it is cleared before. */
  start(deadline: Deadline, ms: number, now = this.#clock.now()): void {
    deadline.at = now + ms
    const wasEmpty = this.#first === undefined
    deadline.previous = this.#last
    if (this.#last) this.#last.next = deadline
    else this.#first = deadline
    this.#last = deadline
    if (deadline.at < this.#timerAt) this.#arm(deadline.at)
    else if (this.#holdsProcess && wasEmpty) this.#timer?.hold(true)
  }

  /** A deadline from a function. */
  set(ms: number, fire: () => void): Deadline {
    const deadline = new FunctionDeadline(fire)
    this.start(deadline, ms)
    return deadline
  }

  /** Moves a deadline. To a later time it costs nothing: the timer finds out when it fires. */
  move(deadline: Deadline, ms: number): void {
    deadline.at = this.#clock.now() + ms
    if (deadline.at < this.#timerAt) this.#arm(deadline.at)
  }

  clear(deadline: Deadline): void {
    if (!this.#isOpen(deadline)) return
    const { previous, next } = deadline
    if (previous) previous.next = next
    else this.#first = next
    if (next) next.previous = previous
    else this.#last = previous
    deadline.previous = undefined
    deadline.next = undefined
    if (this.#holdsProcess && this.#first === undefined) this.#timer?.hold(false)
  }

  #isOpen(deadline: Deadline): boolean {
    return deadline.previous !== undefined || this.#first === deadline
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
    const due: Deadline[] = []
    let next = Number.POSITIVE_INFINITY
    for (let each = this.#first; each; each = each.next) {
      if (each.at <= now) due.push(each)
      else if (each.at < next) next = each.at
    }
    for (const deadline of due) {
      // What fires may clear what is due as well, or put it off.
      if (deadline.at > now || !this.#isOpen(deadline)) continue
      this.clear(deadline)
      deadline.fire()
    }
    if (this.#first && next < this.#timerAt) this.#arm(next)
  }
}

class FunctionDeadline extends Deadline {
  readonly #fire: () => void

  constructor(fire: () => void) {
    super()
    this.#fire = fire
  }

  fire(): void {
    this.#fire()
  }
}
