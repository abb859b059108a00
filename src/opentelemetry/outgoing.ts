/** Requests that this side sends: those of a client, and the questions of a server. */

import { type Attributes, propagation, SpanKind, trace } from '@opentelemetry/api'
import type { Params } from '../jsonrpc/message.ts'
import { RemoteError } from '../jsonrpc/remote-error.ts'
import { McpError } from '../protocol/errors.ts'
import type { AroundRequest, OutgoingRequest } from '../protocol/interfaces/telemetry.ts'
import type { TraceContext } from '../protocol/model/trace-context.ts'
import { operationOf } from './attributes.ts'
import { activeContext, guarded } from './guarded.ts'
import { CANCELLED, type Ending, type Failure, runOperation, TOOL_ERROR } from './operation.ts'

/**
 * Sends a request inside of a span, with the context of the span for the peer.
 *
 * @param place attributes that say where the peer is
 */
export function runOutgoing(
  { method, params, revision }: OutgoingRequest,
  send: Parameters<AroundRequest>[1],
  place: Attributes = {},
): Promise<Params> {
  const operation = operationOf(method, params, revision)
  Object.assign(operation.common, place)
  return runOperation({
    kind: SpanKind.CLIENT,
    operation,
    parent: activeContext(),
    run: (inside) => {
      const carrier: TraceContext = {}
      guarded('propagation.inject', () => propagation.inject(inside, carrier))
      // After several messages it is the id of the one that was answered.
      return send(Object.keys(carrier).length > 0 ? carrier : undefined, (id) =>
        guarded('span.setAttribute', () => trace.getSpan(inside)?.setAttribute('jsonrpc.request.id', String(id))),
      )
    },
    failureIn: (result) => (result.isError === true ? TOOL_ERROR : undefined),
    endingOf,
  })
}

/** A caller that stops waiting has meant it. */
export const endingOf = (error: unknown): Ending => (error instanceof Error && error.name === 'AbortError' ? CANCELLED : failureOf(error))

export function failureOf(error: unknown): Failure {
  if (error instanceof RemoteError) return { type: String(error.code), code: error.code, message: error.message }
  if (error instanceof McpError) return { type: error.code, message: error.message }
  return error instanceof Error ? { type: error.name, message: error.message } : { type: '_OTHER' }
}
