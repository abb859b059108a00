/** Middleware: functions around every request, for example for access control or timing. */

import { callObserver } from '../base/call-observer.ts'
import type { Id, Params } from '../jsonrpc/message.ts'
import type { AroundRequest } from '../protocol/interfaces/telemetry.ts'
import { METHODS } from '../protocol/methods.ts'
import type { TraceContext } from '../protocol/model/trace-context.ts'
import type { Caller, IncomingCall } from './incoming-call.ts'

/** A request, as middleware sees it. */
export interface MiddlewareCall {
  /** The id that the client chose. Other clients may use the same one. */
  readonly id: Id
  readonly method: string
  readonly params: Params
  /** The tool, prompt or URI of the request, if the method has one. */
  readonly target: string | undefined
  /**
   * Whether the protocol or an extension of the server has the method, and the server has the tool or prompt that the request names.
   * Clients can make up names, so count requests by name only if this is true.
   */
  readonly isKnown: boolean
  readonly caller: Caller
  /** The trace that the request belongs to, without invalid values. Undefined if there is none. */
  readonly trace: TraceContext | undefined
  readonly signal: AbortSignal
  /**
   * Calls `listener` with the reason when `signal` aborts, and returns a function that removes it. For middleware that has nothing to
   * stop: the first use of `signal` creates it, which takes time for each request.
   */
  onAborted(listener: (reason: unknown) => void): () => void
  /**
   * What the client gets in place of an error of your code: `Internal error (reference Y-fQ79uB)`. Made on first use. The record of the
   * request has it, and so has what `onError` gets.
   */
  readonly reference: string
}

/**
 * A function around every request, called in the order of `server.use`. `next()` continues with the same params,
 * `next({ params })` with others. It resolves with the result. An error that is thrown becomes the answer.
 *
 * @example
 * const audit: Middleware = async (call, next) => {
 *   console.error(call.caller.principal, call.method, call.target)
 *   return next()
 * }
 */
export interface Middleware {
  (call: MiddlewareCall, next: (call?: Pick<MiddlewareCall, 'params'>) => Promise<Params>): Params | Promise<Params>
  /** A function around every question that is a request to the client, as in sessions. That of the first middleware with one is used. */
  readonly question?: AroundRequest
}

/** Tells what the server has from what a client made up. */
export interface Names {
  knows(call: Pick<MiddlewareCall, 'method' | 'params'>): boolean
}

/** Runs the middleware from the first to the last, then `inner`. */
export function runMiddleware(
  middleware: readonly Middleware[],
  call: IncomingCall,
  names: Names,
  inner: (call: IncomingCall) => Params | Promise<Params>,
  at = 0,
): Params | Promise<Params> {
  const current = middleware[at]
  if (!current) return inner(call)
  return current(new View(call, names), async (changed) =>
    runMiddleware(middleware, changed ? call.withParams(changed.params) : call, names, inner, at + 1),
  )
}

class View implements MiddlewareCall {
  readonly #call: IncomingCall
  readonly #names: Names

  constructor(call: IncomingCall, names: Names) {
    this.#call = call
    this.#names = names
  }

  get id(): Id {
    return this.#call.exchange.id
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

  get isKnown(): boolean {
    return this.#names.knows(this.#call)
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

  onAborted(listener: (reason: unknown) => void): () => void {
    return this.#call.exchange.onAborted((reason) => callObserver('onAborted', () => listener(reason)))
  }

  get reference(): string {
    return this.#call.reference
  }
}

/** The name or URI that a call acts on. */
export function targetOf(call: Pick<IncomingCall, 'method' | 'params'>): string | undefined {
  const member = METHODS.get(call.method)?.target
  const value = member === undefined ? undefined : call.params[member]
  return typeof value === 'string' ? value : undefined
}
