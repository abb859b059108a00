/** Runs an author's handler to a result, with a time limit and a way out: it may have to stop and wait for answers. */

import { Deadline, type Deadlines } from '../base/deadlines.ts'
import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import type { Call } from './call.ts'
import { Suspended } from './input/replay.ts'

/** @param finish makes the handler's value a result */
export function runHandler(
  call: Call,
  run: () => unknown,
  finish: (value: unknown) => Params | Promise<Params>,
  timeoutMs: number,
  deadlines: Deadlines,
): Params | Promise<Params> {
  const value = run()
  if (!isThenable(value)) return finish(value)
  return new Promise((resolve, reject) => {
    const running = new Running(call, timeoutMs, deadlines, resolve, reject)
    value.then(
      (returned) => running.end(returned, finish),
      (error: unknown) => running.fail(error),
    )
  })
}

/** One handler on its way; the first of value, failure, time limit and questions ends it. */
class Running extends Deadline {
  readonly #call: Call
  readonly #timeoutMs: number
  readonly #deadlines: Deadlines
  readonly #resolve: (result: Params | Promise<Params>) => void
  readonly #reject: (error: unknown) => void
  #isSuspended = false

  constructor(
    call: Call,
    timeoutMs: number,
    deadlines: Deadlines,
    resolve: (result: Params | Promise<Params>) => void,
    reject: (error: unknown) => void,
  ) {
    super()
    this.#call = call
    this.#timeoutMs = timeoutMs
    this.#deadlines = deadlines
    this.#resolve = resolve
    this.#reject = reject
    call.running = this
    deadlines.start(this, timeoutMs)
  }

  end(value: unknown, finish: (value: unknown) => Params | Promise<Params>): void {
    this.#deadlines.clear(this)
    // Once the run is suspended its own end, an unwinding, says nothing.
    if (this.#isSuspended) return
    try {
      this.#resolve(finish(value))
    } catch (error) {
      this.#reject(error)
    }
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
    round.then(this.#resolve, this.#reject)
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as Partial<PromiseLike<unknown>>).then === 'function'
