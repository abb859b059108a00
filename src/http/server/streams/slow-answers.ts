/** Requests without an answer, checked on every tick. Each is told when its answer takes too long. */

/** An entry of a linked list, which costs less per request than a Set. */
export abstract class SlowAnswer {
  ticks = 0
  previous: SlowAnswer | undefined
  next: SlowAnswer | undefined

  /** There was no answer within `streamAfterMs`. */
  abstract onSlow(): void
}

export class SlowAnswers {
  readonly #maxTicks: number
  readonly #start: () => void
  #first: SlowAnswer | undefined
  #last: SlowAnswer | undefined

  /** @param start starts the ticks, which go on until `isEmpty` */
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
