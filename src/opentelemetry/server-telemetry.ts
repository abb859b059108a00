/** Spans and metrics of a server. */

import type { Params } from '../jsonrpc/message.ts'
import type { AroundRequest } from '../protocol/interfaces/telemetry.ts'
import type { TraceContext } from '../protocol/model/trace-context.ts'
import { runRequest, type StoppableRequest } from './incoming.ts'
import { runOutgoing } from './outgoing.ts'

/** The part of a request of a server that is used. It is that of middleware. */
interface ServedCall {
  readonly id: string | number
  readonly method: string
  readonly params: Params
  readonly isKnown: boolean
  readonly caller: { readonly revision: string }
  readonly trace: TraceContext | undefined
  onAborted(listener: (reason: unknown) => void): () => void
  readonly reference: string
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
  const { id, method, params, isKnown, caller, trace } = call
  const onAborted: StoppableRequest['onAborted'] = (listener) => call.onAborted(listener)
  return runRequest({ id, method, params, revision: caller.revision, trace, onAborted }, isKnown, () => call.reference, next)
}
