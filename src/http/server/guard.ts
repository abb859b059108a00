/** Whether a request may be looked at at all: judged from its head alone, before anything of it is believed or read. */

import type { HttpOptions } from './options.ts'
import { type Refusal, refuse } from './refusal.ts'
import type { HttpRequestView } from './runtime/view.ts'

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i
const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Where a connection ends: at a loopback address, at another, or where the runtime does not say. */
type Socket = 'local' | 'other' | 'unknown'

export class Guard {
  readonly #options: HttpOptions
  readonly #maxHeaders: number
  readonly #hosts: ReadonlySet<string>
  readonly #origins: ReadonlySet<string>
  /** The last name that was found good at a socket of each kind: nearly every request has the same. */
  readonly #good: Record<Socket, string | undefined> = { local: undefined, other: undefined, unknown: undefined }

  constructor(options: HttpOptions, maxHeaders: number) {
    this.#options = options
    this.#maxHeaders = maxHeaders
    const { auth, allowedHosts = [] } = options
    this.#hosts = new Set([...allowedHosts, ...(auth ? [auth.host] : [])].map((host) => host.toLowerCase()))
    this.#origins = new Set(options.allowedOrigins?.map((origin) => origin.toLowerCase()))
  }

  /** Undefined when the request may go on. */
  judge(request: HttpRequestView): Refusal | undefined {
    return this.judgeHead(request) ?? this.#judgeOrigin(request)
  }

  /** The same for what pages of any origin may read. */
  judgeHead(request: HttpRequestView): Refusal | undefined {
    if (request.headerCount > this.#maxHeaders)
      return refuse(431, `More than ${this.#maxHeaders} headers (limits.maxHeaders)`, { limit: 'maxHeaders' })
    return this.#judgeHost(request)
  }

  /** Whether the pages of this origin may read answers. */
  isCrossOrigin(origin: string): boolean {
    return this.#origins.has(origin.toLowerCase())
  }

  #judgeHost(request: HttpRequestView): Refusal | undefined {
    const host = request.header('host')
    if (host === undefined || host === '') return refuse(400, 'A Host header is required')
    const kind = request.isLocal === undefined ? 'unknown' : request.isLocal ? 'local' : 'other'
    if (request.count('host') !== 1) return refuse(400, 'More than one Host header')
    if (!request.url.startsWith('/')) {
      const target = hostOfUrl(request.url)
      if (target === undefined) return refuse(400, 'The request target is neither a path nor a URL')
      if (target !== host.toLowerCase()) return refuse(403, 'The request target and the Host header differ')
    }
    if (host === this.#good[kind]) return undefined
    if (this.#options.dangerouslyAllowAnyHost) return undefined
    const parts = HOST.exec(host)
    if (!parts) return refuse(403, `Not a host that is served here: ${JSON.stringify(host.slice(0, 100))}`)
    if (!this.#isServed(host.toLowerCase(), (parts[1] as string).toLowerCase(), kind))
      return refuse(403, `Not a host that is served here: ${JSON.stringify(host.slice(0, 100))} (allowedHosts)`)
    this.#good[kind] = host
    return undefined
  }

  #isServed(host: string, name: string, kind: Socket): boolean {
    if (this.#hosts.has(host) || this.#hosts.has(name)) return true
    if (kind !== 'other' && LOOPBACK_NAMES.has(name)) return true
    // A page that reaches us under a false name has no credentials for us, so it gets nowhere.
    return kind !== 'local' && this.#hosts.size === 0 && this.#options.authenticate !== undefined
  }

  #judgeOrigin(request: HttpRequestView): Refusal | undefined {
    const origin = request.header('origin')
    if (origin === undefined) return undefined
    const lower = origin.toLowerCase()
    if (this.#origins.has(lower)) return undefined
    const host = (request.header('host') as string).toLowerCase()
    if (lower === `http://${host}` || lower === `https://${host}`) return undefined
    return refuse(403, `Pages of this origin may not call the server: ${JSON.stringify(origin.slice(0, 100))} (allowedOrigins)`)
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

/** `application/json`, with parameters or without. */
export const isJsonType = (type: string | undefined): boolean => type !== undefined && /^\s*application\/json\s*(?:;|$)/i.test(type)

/** Which accepts of answer a client takes; nothing said means any. */
export function acceptsOf(accept: string | undefined): { json: boolean; events: boolean } {
  if (accept === undefined || accept === USUAL_ACCEPT) return ANY
  if (accept !== lastAccept) {
    const ranges = rangesIn(accept)
    lastAccepts = { json: takes(ranges, 'application', 'json'), events: takes(ranges, 'text', 'event-stream') }
    lastAccept = accept
  }
  return lastAccepts
}

const USUAL_ACCEPT = 'application/json, text/event-stream'
const ANY = { json: true, events: true }
// Nearly every request of one kind of client says the same.
let lastAccept = ''
let lastAccepts = { json: false, events: false }

/** One media range of an Accept header: a type, a subtype (`*` for any), and whether it is wanted at all. */
interface MediaRange {
  type: string
  subtype: string
  isWanted: boolean
}

// A comma or semicolon inside of quotes separates nothing. Quotes that are never closed go on to the end.
const LIST_ITEM = /(?:"(?:\\.?|[^"\\])*(?:"|$)|[^,"])+/g
const PARAMETER = /(?:"(?:\\.?|[^"\\])*(?:"|$)|[^;"])+/g
/** A weight of zero: not wanted (RFC 9110, 12.4.2). */
const ZERO = /^\s*q\s*=\s*0(?:\.0{0,3})?\s*$/i

function rangesIn(accept: string): MediaRange[] {
  return (accept.match(LIST_ITEM) ?? []).map((item) => {
    const [name = '', ...parameters] = item.match(PARAMETER) ?? []
    const [type = '', subtype = ''] = name.trim().toLowerCase().split('/')
    return { type, subtype, isWanted: !parameters.some((parameter) => ZERO.test(parameter)) }
  })
}

/** The most exact range that covers a type decides about it; where one is given twice, wanting it is enough. */
function takes(ranges: readonly MediaRange[], type: string, subtype: string): boolean {
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
