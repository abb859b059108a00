/** Requests without an answer yet: one that takes long is told so, by the one timer that looks after streams too. */

/** A link of a list, not an entry of a Set: requests come and go without pause. */
export abstract class SlowAnswer {
  ticks = 0
  previous: SlowAnswer | undefined
  next: SlowAnswer | undefined

  /** No answer within the time set. */
  abstract onSlow(): void
}

export class SlowAnswers {
  readonly #maxTicks: number
  readonly #start: () => void
  #first: SlowAnswer | undefined
  #last: SlowAnswer | undefined

  /** @param start makes ticks come, for as long as `isEmpty` is false */
  constructor(maxTicks: number, start: () => void) {
    this.#maxTicks = maxTicks
    this.#start = start
  }

  get isEmpty(): boolean {
    return this.#first === undefined
  }

  add(answer: SlowAnswer): void {
    answer.previous = this.#last
    if (this.#last) this.#last.next = answer
    else this.#first = answer
    this.#last = answer
    this.#start()
  }

  remove(answer: SlowAnswer): void {
    const { previous, next } = answer
    if (!previous && this.#first !== answer) return
    if (previous) previous.next = next
    else this.#first = next
    if (next) next.previous = previous
    else this.#last = previous
    answer.previous = undefined
    answer.next = undefined
  }

  tick(): void {
    const slow: SlowAnswer[] = []
    for (let each = this.#first; each; each = each.next) if (++each.ticks > this.#maxTicks) slow.push(each)
    for (const answer of slow) {
      this.remove(answer)
      answer.onSlow()
    }
  }
}
