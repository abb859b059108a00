/** portico/http: serving over HTTP, and connecting over HTTP. */

import type { Service } from '../protocol/interfaces/service.ts'
import type { Listening, ListenOptions } from './server/listen-options.ts'

export type { Outcome, RequestRecord } from '../observability/request-record.ts'
export * from './client/index.ts'
export { type HttpHandler, httpHandler } from './server/handler.ts'
export type { HttpCounts } from './server/http-counts.ts'
export type { Listening, ListenOptions } from './server/listen-options.ts'
export type { HealthCheck, HealthOptions, HealthProblem, MetricsOptions } from './server/operations/health.ts'
export {
  type AuthenticatedCaller,
  type AuthRefusal,
  DEFAULT_HTTP_LIMITS,
  type HttpAuth,
  type HttpLimits,
  type HttpOptions,
  type Refused,
  type RequestHead,
} from './server/options.ts'
export { type PublicDocuments, type ServerCardOptions, serverCard } from './server/server-card.ts'

/**
 * Serves at a port of this machine. Resolves when the server accepts requests.
 *
 * @example
 * ```ts
 * const { url } = await listen(server, { port: 3000 })
 * console.log(`Serving at ${url}`)
 * ```
 */
export async function listen(service: Service, options: ListenOptions = {}): Promise<Listening> {
  // Loaded on use, because other runtimes cannot listen at a port.
  const node = await import('./server/listen.ts')
  return node.listen(service, options)
}
