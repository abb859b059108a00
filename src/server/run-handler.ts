/** Runs an author's handler with a time limit and a way out: it may have to stop and wait for answers. */

import { Deadline, type Deadlines } from '../jsonrpc/deadlines.ts'
import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import { Suspended } from './ask/replay.ts'
import type { Call } from './call.ts'

/** The outcome of a run that ended in questions instead of a value. */
export class Round {
  readonly result: Params

  constructor(result: Params) {
    this.result = result
  }
}

export function runHandler(call: Call, run: () => unknown, timeoutMs: number, deadlines: Deadlines): unknown {
  const value = run()
  if (!isThenable(value)) return value
  return new Promise((resolve, reject) => {
    const running = new Running(call, timeoutMs, deadlines, resolve, reject)
    value.then(
      (result) => running.end(result),
      (error: unknown) => running.fail(error),
    )
  })
}

/** One handler on its way; the first of value, failure, time limit and questions ends it. */
class Running extends Deadline {
  readonly #call: Call
  readonly #timeoutMs: number
  readonly #deadlines: Deadlines
  readonly #resolve: (value: unknown) => void
  readonly #reject: (error: unknown) => void
  #isSuspended = false

  constructor(call: Call, timeoutMs: number, deadlines: Deadlines, resolve: (value: unknown) => void, reject: (error: unknown) => void) {
    super()
    this.#call = call
    this.#timeoutMs = timeoutMs
    this.#deadlines = deadlines
    this.#resolve = resolve
    this.#reject = reject
    call.running = this
    deadlines.start(this, timeoutMs)
  }

  end(value: unknown): void {
    this.#deadlines.clear(this)
    // Once the run is suspended its own end, an unwinding, says nothing.
    if (!this.#isSuspended) this.#resolve(value)
  }

  fail(error: unknown): void {
    this.#deadlines.clear(this)
    if (!this.#isSuspended) this.#reject(error)
  }

  fire(): void {
    const error = new McpError('ERR_TIMEOUT', `${this.#call.method} took longer than ${this.#timeoutMs} ms (timeoutMs)`)
    this.#call.exchange.abort(error)
    this.#reject(error)
  }

  suspend(round: Promise<Params>): void {
    this.#isSuspended = true
    this.#deadlines.clear(this)
    this.#call.exchange.abort(new Suspended('The call waits for answers'))
    round.then((result) => this.#resolve(new Round(result)), this.#reject)
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as Partial<PromiseLike<unknown>>).then === 'function'
