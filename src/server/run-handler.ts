/** Runs an author's handler with a time limit and a way out: it may have to stop and wait for answers. */

import type { Deadlines } from '../jsonrpc/deadlines.ts'
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
    let isSuspended = false
    const deadline = deadlines.set(timeoutMs, () => {
      const error = new McpError('ERR_TIMEOUT', `${call.method} took longer than ${timeoutMs} ms (timeoutMs)`)
      call.exchange.abort(error)
      reject(error)
    })
    call.suspend = (round) => {
      isSuspended = true
      deadlines.clear(deadline)
      call.exchange.abort(new Suspended('The call waits for answers'))
      round.then((result) => resolve(new Round(result)), reject)
    }
    // Once the run is suspended its own end, an unwinding, says nothing.
    value.then(
      (result) => {
        deadlines.clear(deadline)
        if (!isSuspended) resolve(result)
      },
      (error: unknown) => {
        deadlines.clear(deadline)
        if (!isSuspended) reject(error)
      },
    )
  })
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as Partial<PromiseLike<unknown>>).then === 'function'
