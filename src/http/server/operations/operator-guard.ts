/** Checks who may read health and metrics: requests to a known host name, and probes to the address of this machine. */

import { HOST_HEADER } from '../../../base/address/names.ts'
import type { HttpOptions } from '../options.ts'
import { type Refusal, refuse } from '../refusal.ts'
import type { HttpRequestView } from '../runtime/request-reply.ts'

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

export class OperatorGuard {
  readonly #hosts: ReadonlySet<string>
  readonly #allowsAny: boolean

  constructor({ allowedHosts = [], auth, dangerouslyAllowAnyHost }: HttpOptions) {
    this.#hosts = new Set([...allowedHosts, ...(auth?.host !== undefined ? [auth.host] : [])].map((host) => host.toLowerCase()))
    this.#allowsAny = dangerouslyAllowAnyHost === true
  }

  /** Undefined when the request is accepted. */
  check(request: HttpRequestView): Refusal | undefined {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(405, 'Method not allowed; use GET', { headers: { allow: 'GET, HEAD' } })
    // Probes and scrapers send none. Scripts of web pages do.
    if (request.header('origin') !== undefined) return refuse(403, 'Web pages may not read this path', { kind: 'origin' })
    // Routers and proxies may read another path in such a target, and have let it through for that.
    if (!request.url.startsWith('/') || request.url.includes('#')) return refuse(403, 'Expected a request target that is a path')
    if (this.#allowsAny) return undefined
    const host = request.header('host')?.toLowerCase() ?? ''
    const name = HOST_HEADER.exec(host)?.[1]
    if (name === undefined || request.count('host') !== 1) return refuse(403, 'Host not allowed', { kind: 'host' })
    if (this.#hosts.has(host) || this.#hosts.has(name)) return undefined
    if (request.isLocal !== false && LOOPBACK_NAMES.has(name)) return undefined
    // A page that uses DNS rebinding sends the name of its own site, never an address.
    if (request.localAddress !== undefined && oneSpelling(name) === oneSpelling(hostOf(request.localAddress))) return undefined
    return refuse(403, `Host not allowed: ${JSON.stringify(host.slice(0, 100))} (allowedHosts, or the address of this machine)`, {
      kind: 'host',
    })
  }
}

/** An address as a Host header spells it. */
function hostOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  return plain.includes(':') ? `[${plain}]` : plain
}

/** IPv6 addresses have many spellings. */
const oneSpelling = (host: string): string =>
  host.startsWith('[') && URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host
