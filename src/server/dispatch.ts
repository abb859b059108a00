/** Answers one call: runs the middleware and the method, then writes the result or the error. */

import { type ErrorObject, INTERNAL_ERROR, type Params } from '../jsonrpc/message.ts'
import { RemoteError } from '../jsonrpc/remote-error.ts'
import { McpError, UrlElicitationRequired } from '../protocol/errors.ts'
import { isFaultOfCode, isForPeer, isSaidOnPurpose } from '../protocol/fault-of-code.ts'
import { internalErrorText } from '../protocol/internal-error.ts'
import { METHODS } from '../protocol/methods.ts'
import type { Revision } from '../revisions/revision.ts'
import { errorResult } from './content.ts'
import type { IncomingCall } from './incoming-call.ts'
import { runMiddleware, targetOf } from './middleware.ts'
import type { ServerState } from './server-state.ts'

type Handler = (call: IncomingCall, serverState: ServerState) => Params | Promise<Params>

/** Methods that both dialects answer in the same way. The dialect answers the methods that concern its own state. */
const HANDLERS: Readonly<Record<string, Handler>> = {
  'tools/call': (call, serverState) => serverState.tools.call(call),
  'tools/list': (call, serverState) => serverState.tools.list(call),
  'resources/list': (call, serverState) => serverState.resources.list(call),
  'resources/templates/list': (call, serverState) => serverState.resources.listTemplates(call),
  'resources/read': (call, serverState) => serverState.resources.read(call),
  'prompts/list': (call, serverState) => serverState.prompts.list(call),
  'prompts/get': (call, serverState) => serverState.prompts.get(call),
  'completion/complete': (call, serverState) => serverState.completions.complete(call),
  'server/discover': (_call, serverState) => serverState.discovery(),
}

const handlers: ReadonlyMap<string, Handler> = new Map(Object.entries(HANDLERS))

/**
 * Answers a call with the result of its method.
 *
 * @param method runs the method
 */
export function dispatch(call: IncomingCall, serverState: ServerState, method: Handler = runMethod): void {
  const { loading } = serverState
  const run = (): Params | Promise<Params> => {
    const { middleware } = serverState
    if (middleware.length === 0) return method(call, serverState)
    return runMiddleware(middleware, call, serverState, (inner) => method(inner, serverState))
  }
  // A call that was cancelled while it waited does not run.
  settle(call, serverState, loading ? () => loading.then(() => (call.exchange.isOver ? {} : run())) : run)
}

/** Answers the exchange of a call in every case. */
export function settle(call: IncomingCall, serverState: ServerState, work: () => Params | Promise<Params>): void {
  let result: Params | Promise<Params>
  try {
    result = work()
  } catch (error) {
    return void fail(call, error, serverState)
  }
  if (result instanceof Promise) {
    result.then(
      (value) => answer(call, value, serverState),
      (error: unknown) => fail(call, error, serverState),
    )
  } else answer(call, result, serverState)
}

/** Runs the method itself. Throws ERR_METHOD_NOT_FOUND when the revision or this server does not have it. */
export function runMethod(call: IncomingCall, serverState: ServerState): Params | Promise<Params> {
  const { method, revision } = call
  const row = METHODS.get(method)
  if (!row) {
    for (const addition of serverState.additions) {
      const added = addition.run(call)
      if (added) return added
    }
  }
  if (row?.kind !== 'request' || row.from === 'server' || !revision.has(method) || !isOffered(row.feature, serverState)) {
    throw notFound(method)
  }
  const own = call.dialect.method(call)
  if (own) return own
  const handler = handlers.get(method)
  if (!handler) throw notFound(method)
  return handler(call, serverState)
}

export const notFound = (method: string): McpError => new McpError('ERR_METHOD_NOT_FOUND', `Method not found: ${method.slice(0, 200)}`)

function isOffered(feature: string | undefined, serverState: ServerState): boolean {
  switch (feature) {
    case 'tools':
      return serverState.tools.isOffered
    case 'resources':
      return serverState.resources.isOffered
    case 'prompts':
      return serverState.prompts.isOffered
    case 'completions':
      return serverState.completions.isOffered
    case 'logging':
      return serverState.logging.isOffered
    default:
      return true
  }
}

function answer(call: IncomingCall, result: Params, serverState: ServerState): void {
  if (call.exchange.isOver) return call.exchange.onStopped?.()
  try {
    const { method } = call
    const isKept = METHODS.get(method)?.isCacheable === true && method !== 'resources/read'
    serverState.serialiser.answer(call.exchange, result, call.revision, isKept)
  } catch (error) {
    // JSON cannot represent the result: it has a cycle or a BigInt.
    call.exchange.fail(toErrorObject(masked(call, error, serverState), call.revision))
  }
}

async function fail(call: IncomingCall, error: unknown, serverState: ServerState): Promise<void> {
  if (call.exchange.isOver) return call.exchange.onStopped?.()
  if (error instanceof UrlElicitationRequired) {
    try {
      return answer(call, await call.dialect.requirePages(call, error), serverState)
    } catch (asked) {
      return failPlainly(call, asked, serverState)
    }
  }
  failPlainly(call, error, serverState)
}

function failPlainly(call: IncomingCall, error: unknown, serverState: ServerState): void {
  const { method } = call
  const isTool = method === 'tools/call'
  if (isFaultOfCode(error, method)) {
    const hidden = masked(call, error, serverState)
    if (isTool) return answer(call, errorResult(hidden.message), serverState)
    return call.exchange.fail(toErrorObject(hidden, call.revision))
  }
  if (isSaidOnPurpose(error, method)) {
    if (isTool) return answer(call, errorResult(error.message), serverState)
    return call.exchange.fail({ code: INTERNAL_ERROR, message: error.message })
  }
  if (isForPeer(error)) {
    if (error.code === 'ERR_OUTPUT_INVALID') serverState.report(error, { reference: '', method, target: targetOf(call) })
    serverState.reportUnopened(error, call)
    return call.exchange.fail(toErrorObject(error, call.revision))
  }
  if (error instanceof RemoteError) return answer(call, errorResult(`The client answered with an error: ${error.message}`), serverState)
  call.exchange.fail(STORE_DOWN, STORE_RETRY_S)
}

/** The reason is for the operator only. `/readyz` and metrics have it. */
const STORE_DOWN: ErrorObject = {
  code: INTERNAL_ERROR,
  message: 'The server cannot reach its store. Send the request again later',
  data: { reason: 'store_down', retryable: true },
}
const STORE_RETRY_S = 2

/** Replaces an error whose text must not reach the client. The reference finds it in the server's log. */
function masked(call: IncomingCall, error: unknown, serverState: ServerState): McpError {
  const { reference } = call
  serverState.report(error, { reference, method: call.method, target: targetOf(call) })
  return new McpError('ERR_INTERNAL', internalErrorText(reference))
}

export function toErrorObject(error: McpError, revision: Revision): ErrorObject {
  const object: ErrorObject = { code: revision.errorCode(error.code), message: error.message }
  if (error.data !== undefined) object.data = error.data
  return object
}
