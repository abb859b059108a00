/** Spans and metrics of a server. */

import { context, propagation, SpanKind, trace } from '@opentelemetry/api'
import type { Params } from '../jsonrpc/message.ts'
import { ERRORS, McpError } from '../protocol/errors.ts'
import type { AroundRequest } from '../protocol/interfaces/telemetry.ts'
import type { TraceContext } from '../protocol/model/trace-context.ts'
import { operationOf } from './attributes.ts'
import { type Failure, runOperation, TOOL_ERROR } from './operation.ts'
import { runOutgoing } from './outgoing.ts'

/** The part of a request of a server that is used. It is that of middleware. */
interface ServedCall {
  readonly id: string | number
  readonly method: string
  readonly params: Params
  readonly isKnown: boolean
  readonly caller: { readonly revision: string }
  readonly trace: TraceContext | undefined
}

/** What `server.use` takes. */
interface ServerTelemetry {
  (call: ServedCall, next: () => Promise<Params>): Promise<Params>
  readonly question: AroundRequest
}

/**
 * Middleware that makes a span of OpenTelemetry for every request, and measures its duration (`mcp.server.operation.duration`). The parent
 * is the span of the client, from `_meta`. Add it first, so that the spans of other middleware are inside. In sessions each question to
 * the client has a span as well, inside of that of the request (`mcp.client.operation.duration`).
 *
 * @example
 * import { serverTelemetry } from 'portico/opentelemetry'
 *
 * server.use(serverTelemetry())
 */
export function serverTelemetry(): ServerTelemetry {
  const question: AroundRequest = (request, send) => runOutgoing(request, send)
  return Object.assign(aroundCall, { question })
}

function aroundCall(call: ServedCall, next: () => Promise<Params>): Promise<Params> {
  const { method, params, caller, isKnown } = call
  const operation = operationOf(method, params, caller.revision, isKnown)
  operation.detail['jsonrpc.request.id'] = String(call.id)
  const ambient = context.active()
  const parent = call.trace ? propagation.extract(ambient, call.trace) : ambient
  // A span of the transport is not the parent then. A link keeps the connection to it.
  const transport = trace.getSpanContext(ambient)
  const links = transport && trace.getSpanContext(parent)?.spanId !== transport.spanId ? [{ context: transport }] : []
  return runOperation({
    kind: SpanKind.SERVER,
    operation,
    parent,
    links,
    run: () => next(),
    failureIn: (result) => (result.isError === true ? TOOL_ERROR : undefined),
    failureOf: (error) => failureOf(error, call),
  })
}

function failureOf(error: unknown, { method }: ServedCall): Failure {
  if (error instanceof McpError && 'isForPeer' in ERRORS[error.code]) {
    const { rpc } = ERRORS[error.code]
    return { type: String(rpc), code: rpc, message: error.message }
  }
  const exception = error instanceof Error ? { exception: error } : {}
  // The client gets the failure of a tool as a result.
  if (method === 'tools/call') return isMeant(error) ? { ...TOOL_ERROR, message: error.message } : { ...TOOL_ERROR, ...exception }
  const { rpc } = ERRORS.ERR_INTERNAL
  return { type: String(rpc), code: rpc, ...exception }
}

/** Errors that authors throw on purpose need no stack. */
const isMeant = (error: unknown): error is Error => error instanceof Error && ['ToolError', 'Declined', 'Cancelled'].includes(error.name)
