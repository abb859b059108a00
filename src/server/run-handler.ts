/** Runs a handler with a time limit. A handler that waits for answers can be suspended. */

import { Deadline, type Deadlines } from '../base/deadlines.ts'
import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import type { IncomingCall } from './incoming-call.ts'
import { Suspended } from './input/replay.ts'

/** @param finish converts the handler's value to a result */
export function runHandler(
  call: IncomingCall,
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

/** A running handler. The first of value, error, time limit and suspension ends it. */
class Running extends Deadline {
  readonly #call: IncomingCall
  readonly #timeoutMs: number
  readonly #deadlines: Deadlines
  readonly #resolve: (result: Params | Promise<Params>) => void
  readonly #reject: (error: unknown) => void
  #isSuspended = false

  constructor(
    call: IncomingCall,
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
    // After a suspension the handler's own end is ignored.
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
    this.#call.exchange.abort(new Suspended('The call is waiting for answers'))
    round.then(this.#resolve, this.#reject)
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as Partial<PromiseLike<unknown>>).then === 'function'
