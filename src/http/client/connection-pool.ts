/** Sends requests to one origin: the pool of connections, the lanes that bound it, and the headers of every request. */

import { systemClock } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Authorizer, SentRequest } from '../../protocol/interfaces/authorizer.ts'
import type { Dispatcher, DispatcherSettings, HttpConnection, HttpRequest, LaneKind, ResponseHandler, Sending } from './http-request.ts'
import { HttpSending } from './http-sending.ts'
import { Lane } from './lane.ts'
import type { ExtraHeaders, HttpClientLimits, HttpExchange, HttpTargetOptions } from './options.ts'

/** The permission of one request, for all its attempts. */
export interface Permission {
  authorize: Authorizer
  request: SentRequest
  /** The headers that the last attempt was sent with. */
  sent: Readonly<Record<string, string>>
  gone: AbortController
}

/** How long requests must not wait before the next wait is worth a warning. */
const QUIET_MS = 60_000
/** Notifications and responses of ours that are sent at the same time. */
const NOTICE_CONNECTIONS = 8
/** Responses of ours that may wait before we stop reading the server's requests. */
const MAX_WAITING_NOTICES = 256

export class ConnectionPool implements HttpConnection {
  readonly server: string
  readonly url: URL
  readonly limits: HttpClientLimits
  readonly pool: Dispatcher
  readonly lanes: Readonly<Record<LaneKind, Lane>>
  readonly onExchange: ((exchange: HttpExchange) => void) | undefined
  readonly #onWarning: ((message: string) => void) | undefined
  /** When requests last waited for a busy server. Undefined: never. */
  #busyAt: number | undefined
  /** Responses whose reading is paused. */
  readonly #paused = new Set<HttpSending>()
  readonly #authorize: Authorizer | undefined
  readonly #fixedHeaders: string[]
  readonly #makeHeaders: (() => ExtraHeaders | Promise<ExtraHeaders>) | undefined

  constructor(
    url: URL,
    server: string,
    limits: HttpClientLimits,
    options: HttpTargetOptions,
    openDispatcher: (settings: DispatcherSettings) => Dispatcher,
  ) {
    this.url = url
    this.server = server
    this.limits = limits
    this.#authorize = options.authorize
    this.onExchange = options.onExchange
    this.#onWarning = options.onWarning
    const { headers = {} } = options
    this.#makeHeaders = typeof headers === 'function' ? headers : undefined
    this.#fixedHeaders = typeof headers === 'function' ? [] : listHeaders(headers)
    const { maxConnections, maxStreams, connectTimeoutMs } = limits
    this.lanes = {
      call: new Lane(maxConnections),
      notice: new Lane(NOTICE_CONNECTIONS, () => this.#resumePaused()),
      stream: new Lane(maxStreams),
    }
    // One more for the DELETE that ends a session.
    const connections = maxConnections + maxStreams + NOTICE_CONNECTIONS + 1
    this.pool = openDispatcher({ origin: url.origin, connections, connectTimeoutMs, tls: options.tls })
  }

  send(request: HttpRequest, handler: ResponseHandler): Sending {
    const sending = new HttpSending(this, request, handler, this.#permissionFor(request))
    sending.start(request.method === 'DELETE' ? undefined : this.lanes[request.lane ?? (request.method === 'GET' ? 'stream' : 'call')])
    return sending
  }

  /** Whether too many of our responses are waiting. Reading then stops, so that the server cannot ask for more. */
  get isBehind(): boolean {
    return this.lanes.notice.waiting >= MAX_WAITING_NOTICES
  }

  /** Resumes this response when the waiting responses of ours have been sent. */
  pause(sending: HttpSending): void {
    this.#paused.add(sending)
  }

  unpause(sending: HttpSending): void {
    this.#paused.delete(sending)
  }

  async close(): Promise<void> {
    await this.pool.destroy().catch(() => {})
  }

  /** The extra headers of one attempt. No promise when nothing has to be awaited. */
  extraHeaders(permission: Permission | undefined): string[] | Promise<string[]> {
    return permission || this.#makeHeaders ? this.#makeExtraHeaders(permission) : this.#fixedHeaders
  }

  /** Says once why requests wait, and again only after a quiet time: a busy server still takes some requests. */
  tellBusy(text: string): void {
    const now = systemClock.now()
    const isNew = this.#busyAt === undefined || now - this.#busyAt > QUIET_MS
    this.#busyAt = now
    if (isNew) this.#onWarning?.(text)
  }

  #resumePaused(): void {
    if (this.#paused.size === 0 || this.lanes.notice.waiting > MAX_WAITING_NOTICES / 2) return
    const paused = [...this.#paused]
    this.#paused.clear()
    // Later, because another response may be in the parser now, and undici parses one at a time.
    queueMicrotask(() => {
      for (const sending of paused) sending.resume()
    })
  }

  async #makeExtraHeaders(permission: Permission | undefined): Promise<string[]> {
    const made = this.#makeHeaders ? listHeaders(await this.#makeHeaders()) : this.#fixedHeaders
    if (!permission) return made
    const granted = await permission.authorize.headers(permission.request)
    permission.sent = granted
    const names = Object.keys(granted)
    return names.length === 0 ? made : [...names.reduce(without, made), ...Object.entries(granted).flat()]
  }

  #permissionFor({ method, url, headers }: HttpRequest): Permission | undefined {
    if (!this.#authorize) return undefined
    const gone = new AbortController()
    const operation = operationOf(method, headers)
    const version = valueIn(headers, 'mcp-protocol-version')
    const request = { method, url, server: this.url, operation, version, signal: gone.signal }
    return { authorize: this.#authorize, request, sent: {}, gone }
  }
}

/** The MCP method and its target, or the HTTP method where there is no message. */
function operationOf(method: string, headers: readonly string[]): string {
  const name = valueIn(headers, 'mcp-name')
  const said = valueIn(headers, 'mcp-method')
  return name === undefined ? (said ?? method) : `${said} ${name}`
}

const valueIn = (headers: readonly string[], name: string): string | undefined =>
  headers.includes(name) ? headers[headers.indexOf(name) + 1] : undefined

/** Headers that the transport sets itself, and that options must not replace. */
const OWN_HEADERS = /^(?:accept|accept-encoding|content-type|content-length|connection|host|transfer-encoding|last-event-id|mcp-.*)$/

function listHeaders(headers: ExtraHeaders): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    if (OWN_HEADERS.test(lower)) throw new McpError('ERR_UNSUPPORTED', `The header ${JSON.stringify(name)} is set by the transport`)
    return [lower, value]
  })
}

const without = (headers: readonly string[], name: string): string[] => headers.filter((_, i) => headers[i - (i % 2)] !== name)
