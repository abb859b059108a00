/** Answers one call: runs the middleware and the method, then writes the result or the error. */

import { randomId } from '../base/bytes.ts'
import { type ErrorObject, INTERNAL_ERROR, type Params } from '../jsonrpc/message.ts'
import { RemoteError } from '../jsonrpc/remote-error.ts'
import { ERRORS, McpError, UrlElicitationRequired } from '../protocol/errors.ts'
import { METHODS } from '../protocol/methods.ts'
import type { Revision } from '../revisions/revision.ts'
import type { Call } from './call.ts'
import { errorResult } from './content.ts'
import type { Core } from './core.ts'
import { runMiddleware, targetOf } from './middleware.ts'

type Handler = (call: Call, core: Core) => Params | Promise<Params>

/** Methods that both dialects answer in the same way. The dialect answers the methods that concern its own state. */
const HANDLERS: Readonly<Record<string, Handler>> = {
  'tools/call': (call, core) => core.tools.call(call),
  'tools/list': (call, core) => core.tools.list(call),
  'resources/list': (call, core) => core.resources.list(call),
  'resources/templates/list': (call, core) => core.resources.listTemplates(call),
  'resources/read': (call, core) => core.resources.read(call),
  'prompts/list': (call, core) => core.prompts.list(call),
  'prompts/get': (call, core) => core.prompts.get(call),
  'completion/complete': (call, core) => core.completions.complete(call),
  'server/discover': (_call, core) => core.discovery(),
}

const handlers: ReadonlyMap<string, Handler> = new Map(Object.entries(HANDLERS))

/** Answers the exchange of a call in every case. */
export function dispatch(call: Call, core: Core): void {
  let result: Params | Promise<Params>
  try {
    const { middleware } = core
    result = middleware.length === 0 ? runMethod(call, core) : runMiddleware(middleware, call, (inner) => runMethod(inner, core))
  } catch (error) {
    return void fail(call, error, core)
  }
  if (result instanceof Promise) {
    result.then(
      (value) => answer(call, value, core),
      (error: unknown) => fail(call, error, core),
    )
  } else answer(call, result, core)
}

/** Runs the method itself. Throws ERR_METHOD_NOT_FOUND when the revision or this server does not have it. */
function runMethod(call: Call, core: Core): Params | Promise<Params> {
  const { method, revision } = call
  const row = METHODS.get(method)
  if (row?.kind !== 'request' || row.from === 'server' || !revision.has(method) || !isOffered(row.feature, core)) {
    throw notFound(method)
  }
  const own = call.dialect.method(call)
  if (own) return own
  const handler = handlers.get(method)
  if (!handler) throw notFound(method)
  return handler(call, core)
}

const notFound = (method: string): McpError => new McpError('ERR_METHOD_NOT_FOUND', `Method not found: ${method.slice(0, 200)}`)

function isOffered(feature: string | undefined, core: Core): boolean {
  switch (feature) {
    case 'tools':
      return core.tools.isOffered
    case 'resources':
      return core.resources.isOffered
    case 'prompts':
      return core.prompts.isOffered
    case 'completions':
      return core.completions.isOffered
    case 'logging':
      return core.logging.isOffered
    default:
      return true
  }
}

function answer(call: Call, result: Params, core: Core): void {
  if (call.exchange.isOver) return call.exchange.onStopped?.()
  try {
    const { method } = call
    const isKept = METHODS.get(method)?.isCacheable === true && method !== 'resources/read'
    core.serialiser.answer(call.exchange, result, call.revision, isKept)
  } catch (error) {
    // JSON cannot represent the result: it has a cycle or a BigInt.
    call.exchange.fail(toErrorObject(masked(call, error, core), call.revision))
  }
}

async function fail(call: Call, error: unknown, core: Core): Promise<void> {
  if (call.exchange.isOver) return call.exchange.onStopped?.()
  if (error instanceof UrlElicitationRequired) {
    try {
      return answer(call, await call.dialect.requirePages(call, error), core)
    } catch (asked) {
      return failPlainly(call, asked, core)
    }
  }
  failPlainly(call, error, core)
}

function failPlainly(call: Call, error: unknown, core: Core): void {
  const isTool = call.method === 'tools/call'
  const forModel = isTool ? core.tools.failure(error) : undefined
  if (forModel) return answer(call, forModel, core)
  if (isForPeer(error)) {
    if (error.code === 'ERR_OUTPUT_INVALID') core.report(error, { reference: '', method: call.method, target: targetOf(call) })
    return call.exchange.fail(toErrorObject(error, call.revision))
  }
  if (isPersonsAnswer(error)) return call.exchange.fail({ code: INTERNAL_ERROR, message: error.message })
  if (error instanceof RemoteError && isTool) return answer(call, errorResult(`The client answered with an error: ${error.message}`), core)
  const hidden = masked(call, error, core)
  if (isTool) answer(call, errorResult(hidden.message), core)
  else call.exchange.fail(toErrorObject(hidden, call.revision))
}

const isForPeer = (error: unknown): error is McpError => error instanceof McpError && 'isForPeer' in ERRORS[error.code]

const isPersonsAnswer = (error: unknown): error is Error =>
  error instanceof Error && (error.name === 'Declined' || error.name === 'Cancelled')

/** Replaces an error whose text must not reach the client. The reference finds it in the server's log. */
function masked(call: Call, error: unknown, core: Core): McpError {
  const reference = randomId().slice(0, 8)
  core.report(error, { reference, method: call.method, target: targetOf(call) })
  return new McpError('ERR_INTERNAL', `Internal error (reference ${reference})`)
}

export function toErrorObject(error: McpError, revision: Revision): ErrorObject {
  const object: ErrorObject = { code: revision.errorCode(error.code), message: error.message }
  if (error.data !== undefined) object.data = error.data
  return object
}
