/** An exchange: one incoming request, from its arrival to its answer. */

import type { KeptText } from './kept-text.ts'
import { type ErrorObject, type Id, INTERNAL_ERROR, type Params, type RequestMessage } from './message.ts'
import type { Outlet } from './outlet.ts'
import { errorJson, resultHead, resultJson, writtenResultJson } from './write.ts'

/** Gets the reason of an abort. */
export type AbortListener = (reason: unknown) => void

export class Exchange {
  readonly id: Id
  readonly method: string
  readonly params: Params | undefined
  readonly outlet: Outlet
  readonly #onOver: (exchange: Exchange) => void
  /** The next entry in the same bucket of the `IdTable`. */
  sibling: Exchange | undefined
  #controller: AbortController | undefined
  #abortReason: unknown
  #abortListeners: AbortListener[] | undefined
  #isOver = false

  constructor(message: RequestMessage, outlet: Outlet, onOver: (exchange: Exchange) => void) {
    this.id = message.id
    this.method = message.method
    this.params = message.params
    this.outlet = outlet
    this.#onOver = onOver
  }

  /** Called when the handler of a cancelled exchange has ended. It may run on after the cancellation, because it may ignore its signal. */
  onStopped: (() => void) | undefined

  /** True once the request is answered or cancelled. Later writes are ignored. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Aborts when the exchange is cancelled. Created on first use, because most handlers do not use it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason)
    }
    return this.#controller.signal
  }

  /** Calls `listener` on abort, or now if that has been. Cheaper than `signal`, which costs a kilobyte. Returns a function that removes it. */
  onAborted(listener: AbortListener): () => void {
    if (this.#abortReason !== undefined) {
      listener(this.#abortReason)
      return () => {}
    }
    const listeners = this.#abortListeners ?? []
    this.#abortListeners = listeners
    listeners.push(listener)
    return () => {
      const at = listeners.indexOf(listener)
      if (at >= 0) listeners.splice(at, 1)
    }
  }

  /** Writes a notification or request that belongs to this exchange. */
  push(json: string, question?: string): undefined | Promise<void> {
    return this.#isOver ? undefined : this.outlet.push(json, question)
  }

  /** Allows the peer to disconnect and fetch the answer later. */
  release(): void {
    if (!this.#isOver) this.outlet.release?.()
  }

  answer(result: Params): void {
    // Serialise first: if the result is not JSON this throws, and the request can still be answered with an error.
    if (!this.#isOver) this.#end(resultJson(this.id, result))
  }

  /** Answers with a result that is already JSON text. */
  answerWritten(result: string): void {
    if (!this.#isOver) this.#end(writtenResultJson(this.id, result))
  }

  /** Answers with JSON text that will be sent again, such as a page of a list. */
  answerKept(result: KeptText): void {
    if (this.#isOver) return
    if (!this.outlet.answerKept) return this.answerWritten(result.text)
    this.#isOver = true
    this.outlet.answerKept(resultHead(this.id), result, '}')
    this.#onOver(this)
  }

  /** @param retryAfterS set if the request may be sent again after so many seconds */
  fail(error: ErrorObject, retryAfterS?: number): void {
    if (!this.#isOver) this.#end(errorJson(this.id, error), error.code, retryAfterS)
  }

  /** Stops the handler and ends the exchange, without an answer or with an error. */
  cancel(reason: unknown, answer?: ErrorObject): void {
    if (this.#isOver) return
    // Abort first: questions to the peer that belong to this request are withdrawn while messages can still be sent.
    this.abort(reason)
    if (answer) this.fail(answer)
    if (this.#isOver) return
    this.#isOver = true
    this.outlet.drop()
    this.#onOver(this)
  }

  /** Tells the handler to stop. The exchange stays open for an answer. */
  abort(reason: unknown): void {
    this.#abortReason ??= reason ?? new DOMException('The request was cancelled', 'AbortError')
    this.#controller?.abort(this.#abortReason)
    for (const listener of this.#abortListeners?.splice(0) ?? NO_LISTENERS) listener(this.#abortReason)
  }

  failUnexpectedly(): void {
    this.fail({ code: INTERNAL_ERROR, message: 'Internal error' })
  }

  #end(json: string, errorCode?: number, retryAfterS?: number): void {
    this.#isOver = true
    this.outlet.answer(json, errorCode, retryAfterS)
    this.#onOver(this)
  }
}

const NO_LISTENERS: readonly AbortListener[] = []
