/** Spans and metrics of a client and of a host. */

import { type Attributes, SpanKind } from '@opentelemetry/api'
import type { AroundAction, AroundRequest, ConnectedTo, HostTelemetry } from '../protocol/interfaces/telemetry.ts'
import { activeContext } from './guarded.ts'
import { runQuestion } from './incoming.ts'
import { record, runInSpan } from './operation.ts'
import { endingOf, failureOf, runOutgoing } from './outgoing.ts'

/**
 * Makes a span of OpenTelemetry for every request of a client, measures its duration (`mcp.client.operation.duration`), and sends the
 * context of the span in `_meta`. Every question of a server that the client answers has a span as well, whose parent is the span of the
 * server (`mcp.server.operation.duration`). It also measures how long sessions last (`mcp.client.session.duration`), in revisions that have sessions.
 *
 * @example
 * import { clientTelemetry } from 'portico/opentelemetry'
 *
 * const client = await connect('https://example.com/mcp', { telemetry: clientTelemetry() })
 */
export function clientTelemetry(): AroundRequest {
  return Object.assign(aroundRequest, { session, answer: runQuestion })
}

const aroundRequest: AroundRequest = (request, send) => runOutgoing(request, send, placeOf(request.url))

/**
 * Makes a span of OpenTelemetry for every action of a host, from the decision to the result, and inside of it a span for every request to a
 * server.
 *
 * @example
 * import { hostTelemetry } from 'portico/opentelemetry'
 *
 * const host = await createHost({ config: 'mcp.json', telemetry: hostTelemetry() })
 */
export function hostTelemetry(): HostTelemetry {
  return { action: aroundAction, request: clientTelemetry() }
}

function session({ revision, url }: ConnectedTo): (error?: Error) => void {
  const begunAt = performance.now()
  return (error) => {
    const attributes: Attributes = { 'mcp.protocol.version': revision, ...placeOf(url) }
    if (error) attributes['error.type'] = failureOf(error).type
    record('mcp.client.session.duration', 'Time from the handshake of a session to its end.', performance.now() - begunAt, attributes)
  }
}

const aroundAction: AroundAction = ({ kind, server, target, initiator }, run) => {
  const attributes: Attributes = { 'portico.action.kind': kind, 'portico.server': server, 'portico.initiator': initiator }
  if (target !== undefined) attributes['portico.target'] = target
  return runInSpan({
    name: `host ${kind}`,
    options: { kind: SpanKind.INTERNAL, attributes },
    parent: activeContext(),
    run,
    endingOf,
  })
}

function placeOf(url: string | undefined): Attributes {
  if (url === undefined || !URL.canParse(url)) return { 'network.transport': 'pipe' }
  const { hostname, port, protocol } = new URL(url)
  return {
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}
