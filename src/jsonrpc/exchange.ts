/** One inbound request, from its arrival to its one answer. */

import type { KeptText } from './kept-text.ts'
import { type ErrorObject, type Id, INTERNAL_ERROR, type Params, type RequestMessage } from './message.ts'
import type { Outlet } from './outlet.ts'
import { errorJson, resultHead, resultJson, writtenResultJson } from './write.ts'

export class Exchange {
  readonly id: Id
  readonly method: string
  readonly params: Params | undefined
  readonly outlet: Outlet
  readonly #onOver: (exchange: Exchange) => void
  /** Its neighbour among the requests in hand. */
  sibling: Exchange | undefined
  #controller: AbortController | undefined
  #abortReason: unknown
  #isOver = false

  constructor(message: RequestMessage, outlet: Outlet, onOver: (exchange: Exchange) => void) {
    this.id = message.id
    this.method = message.method
    this.params = message.params
    this.outlet = outlet
    this.#onOver = onOver
  }

  /** For who needs to know of the abort and nothing else: a signal costs a kilobyte. */
  onAborted: (() => void) | undefined

  /** For who needs to know when the work for a cancelled exchange has ended: a handler need not look at its signal. */
  onStopped: (() => void) | undefined

  /** True once it was answered or cancelled; whatever is written after that goes nowhere. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Aborts when the exchange is cancelled. Made on first use: most handlers never look. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason)
    }
    return this.#controller.signal
  }

  /** Writes a notification or request of this exchange. */
  push(json: string): undefined | Promise<void> {
    return this.#isOver ? undefined : this.outlet.push(json)
  }

  /** Lets the other side hang up and come back for the answer. */
  release(): void {
    if (!this.#isOver) this.outlet.release?.()
  }

  answer(result: Params): void {
    // Written before anything is settled: a result that is no JSON throws here, and can still be answered as an error.
    if (!this.#isOver) this.#end(resultJson(this.id, result))
  }

  /** Answers with a result that was written before. */
  answerWritten(result: string): void {
    if (!this.#isOver) this.#end(writtenResultJson(this.id, result))
  }

  /** Answers with a result that was written before and will be given again. */
  answerKept(result: KeptText): void {
    if (this.#isOver) return
    if (!this.outlet.answerKept) return this.answerWritten(result.text)
    this.#isOver = true
    this.outlet.answerKept(resultHead(this.id), result, '}')
    this.#onOver(this)
  }

  fail(error: ErrorObject): void {
    if (!this.#isOver) this.#end(errorJson(this.id, error), error.code)
  }

  /** Ends the exchange without an answer. */
  cancel(reason: unknown): void {
    if (this.#isOver) return
    // First: whoever asked the other side something for this request calls it off while there is a way to say so.
    this.abort(reason)
    if (this.#isOver) return
    this.#isOver = true
    this.outlet.drop()
    this.#onOver(this)
  }

  /** Tells the handler to stop; the exchange still expects its answer. */
  abort(reason: unknown): void {
    this.#abortReason ??= reason ?? new DOMException('The request was cancelled', 'AbortError')
    this.#controller?.abort(this.#abortReason)
    this.onAborted?.()
  }

  failUnexpectedly(): void {
    this.fail({ code: INTERNAL_ERROR, message: 'Internal error' })
  }

  #end(json: string, errorCode?: number): void {
    this.#isOver = true
    this.outlet.answer(json, errorCode)
    this.#onOver(this)
  }
}
