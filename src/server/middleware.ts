/** Functions around every request: who may, how long it took, how often. */

import type { Params } from '../jsonrpc/message.ts'
import { METHODS } from '../protocol/methods.ts'
import type { TraceContext } from '../protocol/model/trace-context.ts'
import type { Call, Caller } from './call.ts'

/** A request as a middleware sees it. */
export interface MiddlewareCall {
  readonly method: string
  readonly params: Params
  /** The tool, prompt or URI it is about, if the method has one. */
  readonly target: string | undefined
  readonly caller: Caller
  /** The trace that the request is part of, checked: what is not valid is left out. Undefined without any. */
  readonly trace: TraceContext | undefined
  readonly signal: AbortSignal
}

/**
 * Called around every request, in the order of `use`. `next` goes on, with the call as it is or with other params;
 * what it resolves with is the result, what it throws is what the client will be told.
 */
export type Middleware = (
  call: MiddlewareCall,
  next: (call?: Pick<MiddlewareCall, 'params'>) => Promise<Params>,
) => Params | Promise<Params>

export type RunCall = (call: Call) => Params | Promise<Params>

/** The last middleware added is the innermost, so that the first sees everything. */
export function withMiddleware(run: RunCall, middleware: readonly Middleware[]): RunCall {
  return middleware.reduceRight<RunCall>(
    (inner, each) => (call) => each(new View(call), async (changed) => inner(changed ? call.withParams(changed.params) : call)),
    run,
  )
}

class View implements MiddlewareCall {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  get method(): string {
    return this.#call.method
  }

  get params(): Params {
    return this.#call.params
  }

  get target(): string | undefined {
    return targetOf(this.#call)
  }

  get caller(): Caller {
    return this.#call.caller
  }

  get trace(): TraceContext | undefined {
    return this.#call.trace
  }

  get signal(): AbortSignal {
    return this.#call.exchange.signal
  }
}

/** The name or URI a call is about. */
export function targetOf(call: Pick<Call, 'method' | 'params'>): string | undefined {
  const member = METHODS.get(call.method)?.target
  const value = member === undefined ? undefined : call.params[member]
  return typeof value === 'string' ? value : undefined
}
