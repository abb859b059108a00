/** One timer for any number of deadlines: setting or clearing a deadline changes two links and creates no timer. */

import { type Clock, systemClock, type Timer } from './clock.ts'
import { LinkedList, type ListNode } from './linked-list.ts'

export abstract class Deadline implements ListNode<Deadline> {
  at = 0
  previous: Deadline | undefined
  next: Deadline | undefined

  abstract fire(): void
}

export interface DeadlinesOptions {
  /** Whether an open deadline keeps the process alive. Default: false. */
  holdsProcess?: boolean
}

export class Deadlines {
  readonly #clock: Clock
  readonly #holdsProcess: boolean
  readonly #open = new LinkedList<Deadline>()
  #timer: Timer | undefined
  #timerAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock, options: DeadlinesOptions = {}) {
    this.#clock = clock
    this.#holdsProcess = options.holdsProcess ?? false
  }

  now(): number {
    return this.#clock.now()
  }

  /** False for the clock of a test. */
  get isOnSystemClock(): boolean {
    return this.#clock === systemClock
  }

  /** Fires `deadline` after `ms`, unless it is cleared before. */
  start(deadline: Deadline, ms: number, now = this.#clock.now()): void {
    deadline.at = now + ms
    const wasEmpty = this.#open.first === undefined
    this.#open.add(deadline)
    if (deadline.at < this.#timerAt) this.#arm(deadline.at)
    else if (this.#holdsProcess && wasEmpty) this.#timer?.hold(true)
  }

  /** Calls `fire` after `ms`, unless the returned deadline is cleared before. */
  set(ms: number, fire: () => void): Deadline {
    const deadline = new FunctionDeadline(fire)
    this.start(deadline, ms)
    return deadline
  }

  /** Moves a deadline. Moving it to a later time is free: the timer reads the new time when it fires. */
  move(deadline: Deadline, ms: number): void {
    deadline.at = this.#clock.now() + ms
    if (deadline.at < this.#timerAt) this.#arm(deadline.at)
  }

  clear(deadline: Deadline): void {
    if (this.#open.remove(deadline) && this.#holdsProcess && this.#open.first === undefined) this.#timer?.hold(false)
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
    for (let each = this.#open.first; each; each = each.next) {
      if (each.at <= now) due.push(each)
      else if (each.at < next) next = each.at
    }
    for (const deadline of due) {
      // A deadline that fired before may have cleared or moved this one.
      if (deadline.at > now || !this.#open.has(deadline)) continue
      this.clear(deadline)
      deadline.fire()
    }
    if (this.#open.first && next < this.#timerAt) this.#arm(next)
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
