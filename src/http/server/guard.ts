/** Checks Host, Origin and the number of headers before anything else of a request is read. */

import { HOST_HEADER } from '../../base/address/names.ts'
import type { HttpOptions } from './options.ts'
import { type Refusal, refuse } from './refusal.ts'
import type { Headers, HttpRequestView } from './runtime/request-reply.ts'

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Clients and proxies send a few dozen headers. A fixed maximum bounds the work for each request. */
const MAX_HEADERS = 100

const HOST_KIND = { kind: 'host' } as const

/** Whether a connection ends at a loopback address, at another address, or the runtime does not say. */
type Socket = 'local' | 'other' | 'unknown'

export class Guard {
  readonly #options: HttpOptions
  readonly #hosts: ReadonlySet<string>
  readonly #origins: ReadonlySet<string>
  /** The last Host header that was accepted for each kind of socket. Nearly every request has the same. */
  readonly #good: Record<Socket, string | undefined> = { local: undefined, other: undefined, unknown: undefined }

  constructor(options: HttpOptions) {
    this.#options = options
    const { auth, allowedHosts = [] } = options
    this.#hosts = new Set([...allowedHosts, ...(auth?.host !== undefined ? [auth.host] : [])].map((host) => host.toLowerCase()))
    this.#origins = new Set(options.allowedOrigins?.map((origin) => origin.toLowerCase()))
  }

  /** Undefined when the request is accepted. */
  check(request: HttpRequestView): Refusal | undefined {
    return this.checkHead(request) ?? this.#checkOrigin(request)
  }

  /** The same without Origin, for public documents. */
  checkHead(request: HttpRequestView): Refusal | undefined {
    if (request.headerCount > MAX_HEADERS) return refuse(431, `The request has more than ${MAX_HEADERS} headers`, { limit: 'maxHeaders' })
    return this.#checkHost(request)
  }

  /** Whether pages of this origin may read responses. */
  isCrossOrigin(origin: string): boolean {
    return this.#origins.has(origin.toLowerCase())
  }

  #checkHost(request: HttpRequestView): Refusal | undefined {
    const host = request.header('host')
    if (host === undefined || host === '') return refuse(400, 'A Host header is required')
    const kind = request.isLocal === undefined ? 'unknown' : request.isLocal ? 'local' : 'other'
    if (request.count('host') !== 1) return refuse(400, 'The request has more than one Host header')
    if (!request.url.startsWith('/')) {
      const target = hostOfUrl(request.url)
      if (target === undefined) return refuse(400, 'The request target is neither a path nor a URL')
      if (target !== host.toLowerCase()) return refuse(403, 'The request target and the Host header differ', HOST_KIND)
    }
    if (host === this.#good[kind]) return undefined
    if (this.#options.dangerouslyAllowAnyHost) return undefined
    const parts = HOST_HEADER.exec(host)
    if (!parts) return refuse(403, `Host not allowed: ${JSON.stringify(host.slice(0, 100))}`, HOST_KIND)
    if (!this.#isServed(host.toLowerCase(), (parts[1] as string).toLowerCase(), kind))
      return refuse(403, `Host not allowed: ${JSON.stringify(host.slice(0, 100))} (allowedHosts)`, HOST_KIND)
    this.#good[kind] = host
    return undefined
  }

  #isServed(host: string, name: string, kind: Socket): boolean {
    if (this.#hosts.has(host) || this.#hosts.has(name)) return true
    if (kind !== 'other' && LOOPBACK_NAMES.has(name)) return true
    // With authentication any host is safe: a page that uses DNS rebinding has no credentials for this server.
    return kind !== 'local' && this.#hosts.size === 0 && this.#options.authenticate !== undefined
  }

  #checkOrigin(request: HttpRequestView): Refusal | undefined {
    const origin = request.header('origin')
    if (origin === undefined) return undefined
    const lower = origin.toLowerCase()
    if (this.#origins.has(lower)) return undefined
    const host = (request.header('host') as string).toLowerCase()
    if (lower === `http://${host}` || lower === `https://${host}`) return undefined
    return refuse(403, `Origin not allowed: ${JSON.stringify(origin.slice(0, 100))} (allowedOrigins)`, { kind: 'origin' })
  }
}

function hostOfUrl(url: string): string | undefined {
  try {
    const { host, protocol } = new URL(url)
    return protocol === 'http:' || protocol === 'https:' ? host.toLowerCase() : undefined
  } catch {
    return undefined
  }
}

/** Whether a person opened the endpoint in a browser. A client of the protocol asks for a stream of events. */
export function isFromBrowser(request: HttpRequestView): boolean {
  const accept = request.header('accept')
  if (!accept?.includes('text/html') || accept.includes('text/event-stream')) return false
  return PROTOCOL_HEADERS.every((name) => request.header(name) === undefined)
}

const PROTOCOL_HEADERS = ['mcp-session-id', 'mcp-protocol-version', 'last-event-id', 'authorization']

/** `application/json`, with parameters or without. */
export const isJsonType = (type: string | undefined): boolean =>
  type === 'application/json' || (type !== undefined && /^\s*application\/json\s*(?:;|$)/i.test(type))

/** The response types that an Accept header allows. No header allows all. */
export function acceptsOf(accept: string | undefined): { json: boolean; events: boolean } {
  if (accept === undefined || accept === USUAL_ACCEPT) return ANY
  if (accept !== lastAccept) {
    const ranges = rangesIn(accept)
    lastAccepts = { json: accepts(ranges, 'application', 'json'), events: accepts(ranges, 'text', 'event-stream') }
    lastAccept = accept
  }
  return lastAccepts
}

const USUAL_ACCEPT = 'application/json, text/event-stream'
const ANY = { json: true, events: true }
// Cached, because nearly every request has the same value.
let lastAccept = ''
let lastAccepts = { json: false, events: false }

/** One media range of an Accept header: a type, a subtype (`*` for any), and whether its weight is above zero. */
interface MediaRange {
  type: string
  subtype: string
  isWanted: boolean
}

// Commas and semicolons inside quotes are not separators. An unclosed quote extends to the end.
const LIST_ITEM = /(?:"(?:\\.?|[^"\\])*(?:"|$)|[^,"])+/g
const PARAMETER = /(?:"(?:\\.?|[^"\\])*(?:"|$)|[^;"])+/g
/** A weight of zero means not acceptable (RFC 9110, 12.4.2). */
const ZERO = /^\s*q\s*=\s*0(?:\.0{0,3})?\s*$/i

function rangesIn(accept: string): MediaRange[] {
  return (accept.match(LIST_ITEM) ?? []).map((item) => {
    const [name = '', ...parameters] = item.match(PARAMETER) ?? []
    const [type = '', subtype = ''] = name.trim().toLowerCase().split('/')
    return { type, subtype, isWanted: !parameters.some((parameter) => ZERO.test(parameter)) }
  })
}

/** The most specific range decides. Of two equal ranges, one with a weight above zero is enough. */
function accepts(ranges: readonly MediaRange[], type: string, subtype: string): boolean {
  for (const [t, s] of [
    [type, subtype],
    [type, '*'],
    ['*', '*'],
  ]) {
    const covering = ranges.filter((range) => range.type === t && range.subtype === s)
    if (covering.length > 0) return covering.some(({ isWanted }) => isWanted)
  }
  return false
}

/** Lets a page of an allowed origin read the response. */
export const corsHeaders = (origin: string): Headers => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate, DPoP-Nonce',
  vary: 'Origin',
})

const ALLOWED_HEADERS =
  'Content-Type, Accept, Authorization, DPoP, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID'

/** The response to a preflight request. `Mcp-Param-*` headers have names of their own, so the requested ones are allowed. */
export function preflight(wanted = ''): Headers {
  const mirrors = wanted
    .split(',')
    .map((name) => name.trim())
    .filter((name) => /^mcp-param-[\w!#$%&'*+.^`|~-]+$/i.test(name))
  return {
    'access-control-allow-methods': 'POST, GET, DELETE, OPTIONS',
    'access-control-allow-headers': [ALLOWED_HEADERS, ...mirrors].join(', '),
    'access-control-max-age': '600',
  }
}
