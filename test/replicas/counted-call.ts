/** A call of `count`, whose events have numbers: each must come once, in order, to the client of its own call. */

import type { Message } from '../support/raw-channel.ts'
import { type CallOptions, ResumedCall } from './resumed-call.ts'

class CountedCall extends ResumedCall {
  protected readonly params: Message
  readonly #to: number
  #last = 0
  readonly #missing = new Set<number>()

  constructor(options: CallOptions, to: number, ms: number) {
    super(options)
    this.#to = to
    this.params = { name: 'count', arguments: { to, ms, run: this.name }, _meta: { progressToken: this.name } }
  }

  protected takeOther(message: Message): void {
    const { ledger } = this.options
    if (message.method !== 'notifications/progress') return ledger.fault('foreign')
    const { progress, message: run } = message.params as { progress: number; message: string }
    ledger.delivered++
    if (run !== this.name) ledger.fault('foreign')
    else if (progress > this.#last) {
      while (++this.#last < progress) {
        this.#missing.add(this.#last)
        ledger.fault('lost')
      }
    } else if (this.#missing.delete(progress)) {
      ledger.fault('lost', -1)
      ledger.fault('reordered')
    } else ledger.fault('duplicated')
  }

  protected checkResult(result: Message): void {
    const { ledger } = this.options
    if ((result.content as { text: string }[])[0]?.text !== this.name) ledger.fault('foreign')
    if (this.#last < this.#to) ledger.fault('lost', this.#to - this.#last)
  }

  protected override onStreamOver(): void {
    this.options.ledger.received.set(this.name, this.#last)
  }
}

/** @param to how many events one call has @param ms the pause between them */
export const counting =
  ({ to, ms }: { to: number; ms: number }) =>
  (options: CallOptions): ResumedCall =>
    new CountedCall(options, to, ms)
