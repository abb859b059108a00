/** A server as a request handler: for runtimes with web standards, and for Node. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { systemClock } from '../../base/clock.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { isService, type Service } from '../../protocol/interfaces/service.ts'
import { checkHttpOptions } from './check-options.ts'
import { Endpoint } from './endpoint.ts'
import { expectTime } from './expect-option.ts'
import { FIXED_HTTP_LIMITS, type FixedHttpLimits } from './fixed-limits.ts'
import type { HttpCounts } from './http-counts.ts'
import type { HealthCheck } from './operations/health.ts'
import { HTTP_MEMBERS, type HttpOptions, warnWithoutKeys } from './options.ts'
import { fitToRuntime } from './runtime/isolate.ts'
import { type MaybeParsed, NodeRequestReply } from './runtime/node.ts'
import { WebReply, WebRequestView } from './runtime/web.ts'

/** Serves one MCP server over HTTP. */
export interface HttpHandler {
  /** Handles a web-standard request. `remoteAddress` is used for limits by address. */
  fetch(request: Request, info?: { remoteAddress?: string }): Promise<Response>
  /** Handles a request of Node's HTTP server or a framework on it. `body` is the body if the framework has already read it. */
  node(request: MaybeParsed, response: ServerResponse, body?: unknown): void
  /** False during and after the shutdown: new requests should go elsewhere. */
  readonly isReady: boolean
  /** The current load of the handler, for metrics. */
  readonly counts: HttpCounts
  /**
   * What `/readyz` checks, by name. Add and remove checks at any time.
   *
   * @example
   * handler.checks.set('database', async () => ((await db.ping()) ? undefined : { state: 'down', reason: 'The database does not answer' }))
   */
  readonly checks: Map<string, HealthCheck>
  /**
   * Accepts no new work, and resolves when all requests are answered and all tasks have ended, or the time is over.
   *
   * @param graceMs Default: 10 s.
   * @param delayMs How long to accept new work before that, while `/readyz` says that the server is not ready. Default: 0.
   */
  drain(graceMs?: number, delayMs?: number): Promise<void>
  /** Closes every session and stream now. With a `store` it resolves when the other replicas may continue them. */
  close(): Promise<void>
}

const DEFAULT_GRACE_MS = 10_000

/**
 * Makes a request handler for a server. Use it to mount the server in an existing application.
 *
 * @example
 * ```ts
 * const handler = httpHandler(server, { allowedHosts: ['mcp.example.com'] })
 * export default { fetch: (request: Request) => handler.fetch(request) }
 * ```
 * @example
 * ```ts
 * app.all('/mcp', (request, response) => handler.node(request, response))
 * ```
 */
export function httpHandler(service: Service, options: HttpOptions = {}): HttpHandler {
  checkMembers('httpHandler', options, HTTP_MEMBERS)
  checkHttpOptions(options)
  warnWithoutKeys(service, options)
  return createHandler(service, options, FIXED_HTTP_LIMITS)
}

/** What only `listen` needs: it serves all paths of a port. */
export interface PortHandler extends HttpHandler {
  /** Refuses a request to a path where nothing is served. */
  refusePath(request: IncomingMessage, response: ServerResponse, endpointPath: string): void
}

/** The same with other fixed limits, for tests. */
export function createHandler(service: Service, options: HttpOptions, fixed: FixedHttpLimits): PortHandler {
  if (!isService(service)) throw new McpError('ERR_DEFINITION', 'httpHandler() and listen() need a server made by createServer()')
  const endpoint = new Endpoint(service, fitToRuntime(service, options), systemClock, fixed)
  return {
    fetch: (request, info) => {
      const reply = new WebReply(request)
      endpoint.handle(new WebRequestView(request, info?.remoteAddress), reply)
      return reply.response
    },
    node: (request, response, body) => {
      const exchange = new NodeRequestReply(request, response, body, endpoint.limits.stallMs)
      endpoint.handle(exchange, exchange)
    },
    refusePath: (request, response, endpointPath) => {
      const exchange = new NodeRequestReply(request, response, undefined, endpoint.limits.stallMs)
      endpoint.refusePath(exchange, exchange, endpointPath)
    },
    get isReady() {
      return endpoint.isReady
    },
    get counts() {
      return endpoint.counts
    },
    checks: endpoint.checks,
    drain: async (graceMs = DEFAULT_GRACE_MS, delayMs = 0) => {
      expectTime('graceMs', graceMs)
      expectTime('delayMs', delayMs)
      await endpoint.drain(graceMs, delayMs)
    },
    close: () => endpoint.close(),
  }
}
