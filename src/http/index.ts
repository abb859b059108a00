/** portico/http: servers over HTTP, and the way to reach one. */

import type { Service } from '../protocol/seams/service.ts'
import type { Listening, ListenOptions } from './server/listen.ts'

export * from './client/index.ts'
export { type HttpHandler, httpHandler } from './server/handler.ts'
export type { Listening, ListenOptions } from './server/listen.ts'
export type { HttpAuth, HttpLimits, HttpOptions, Knock, TurnedAway, Visitor } from './server/options.ts'

/** Serves at a port of this machine, and resolves when requests can come. Loaded then: other runtimes have no ports. */
export async function listen(service: Service, options: ListenOptions = {}): Promise<Listening> {
  const node = await import('./server/listen.ts')
  return node.listen(service, options)
}
