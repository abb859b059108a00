/** Requests that are not answered yet. One timer finds slow requests and also serves the streams. */

import { LinkedList, type ListNode } from '../../../base/linked-list.ts'

export abstract class SlowAnswer implements ListNode<SlowAnswer> {
  ticks = 0
  previous: SlowAnswer | undefined
  next: SlowAnswer | undefined

  /** Called when there was no answer in time. */
  abstract onSlow(): void
}

export class SlowAnswers {
  readonly #maxTicks: number
  readonly #start: () => void
  readonly #open = new LinkedList<SlowAnswer>()

  /** @param start starts the timer that calls `tick` while `isEmpty` is false */
  constructor(maxTicks: number, start: () => void) {
    this.#maxTicks = maxTicks
    this.#start = start
  }

  get isEmpty(): boolean {
    return this.#open.first === undefined
  }

  add(answer: SlowAnswer): void {
    this.#open.add(answer)
    this.#start()
  }

  remove(answer: SlowAnswer): void {
    this.#open.remove(answer)
  }

  tick(): void {
    const slow: SlowAnswer[] = []
    for (let each = this.#open.first; each; each = each.next) if (++each.ticks > this.#maxTicks) slow.push(each)
    for (const answer of slow) {
      this.remove(answer)
      answer.onSlow()
    }
  }
}
