/**
 * Runtimes that give every request any of many isolates, such as Cloudflare Workers: an isolate has memory of its own and no time between
 * requests. What needs either is refused at start.
 */

import { McpError } from '../../../protocol/errors.ts'
import type { KeyRing } from '../../../protocol/interfaces/replaceable-services.ts'
import type { Service } from '../../../protocol/interfaces/service.ts'
import { selectRevisions } from '../../../revisions/index.ts'
import type { HttpOptions } from '../options.ts'

/** Returns the options to use. @throws McpError ERR_UNSUPPORTED that names the setting to use */
export function fitToRuntime(service: Service, options: HttpOptions): HttpOptions {
  if (!isIsolate()) return options
  if (options.store) refuse('The option store', 'needs connections that stay open between requests; leave it out, and set sessions: false')
  if (options.metrics) refuse('The option metrics', 'would count the requests of one isolate only; use onRequest')
  if (options.sessions === undefined && selectRevisions(service.versions).some(({ dialect }) => dialect === 'session')) {
    refuse(
      'Sessions',
      'need memory that all requests of a client reach; set sessions: false, or sessions: true inside a Durable Object, which has such memory',
    )
  }
  if (options.sessions) return options
  service.useKeys?.(NO_KEYS)
  return { ...options, legacySse: false }
}

/** The documented names of Cloudflare Workers and of the edge runtime of Vercel. */
function isIsolate(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } }
  return navigator?.userAgent === 'Cloudflare-Workers' || 'EdgeRuntime' in globalThis
}

/** In place of random keys, which another isolate would not have. */
const NO_KEYS: KeyRing = {
  current: () => refuse('Questions and pages of lists', 'need keys that all isolates share; set keys: keyRing(secret) in createServer'),
  find: () => undefined,
}

function refuse(what: string, why: string): never {
  throw new McpError('ERR_UNSUPPORTED', `This runtime answers each request in any isolate. ${what} ${why}`)
}
