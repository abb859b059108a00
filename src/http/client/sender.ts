/**
 * One HTTP request after another to one origin, over connections that are kept. Here are the things that are the same
 * for every request: permission, extra headers, redirects, what is refused whatever it says.
 */

import type { IncomingHttpHeaders } from 'node:http'
import { type Dispatcher, Pool } from 'undici'
import { systemClock, type Timer } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Authorizer, SentRequest } from '../../protocol/seams/authorizer.ts'
import { networkFault } from './faults.ts'
import { Lane, LanePlace } from './lane.ts'
import type { ExtraHeaders, HttpClientLimits, HttpTargetOptions } from './options.ts'
import { mediaTypeOf } from './match-answer.ts'
import { retryAfterIn } from './classify-refusal.ts'

export interface HttpRequest {
  method: 'POST' | 'GET' | 'DELETE'
  url: URL
  /** Names and values in turn. */
  headers: string[]
  body?: string
  /** How long to wait for the head of the response, and between pieces of its body; for ever unless given. */
  timeoutMs?: number
  /** Default: `stream` for GET, `call` for POST; the goodbye of a session waits for nothing. */
  lane?: LaneKind
}

/**
 * Requests wait only for others of their kind. An answer of ours must not wait for calls: the server may need it to go on with them.
 * Streams stay open for long, and calls must not wait for that.
 */
export type LaneKind = 'call' | 'notice' | 'stream'

/** What becomes of a request: a head, data, and an end; or a failure at any point. Nothing after it was aborted. */
export interface ResponseHandler {
  onHead(status: number, headers: IncomingHttpHeaders): void
  onData(chunk: Buffer): void
  onEnd(): void
  onFail(error: McpError): void
  /** It waits for permission; called again and again while it does. */
  onHeld?(): void
  /** It waits because the server is busy and said for how long; called again and again while it does. */
  onBusy?(): void
  /** The request is sent again with other permission. */
  onPermitted?(): void
}

/** A request on its way. */
export interface Sending {
  /** Breaks it off, with its connection. */
  abort(): void
}

/** Notifications and answers of ours on their way at the same time. */
const NOTICE_CONNECTIONS = 8
/** Answers of ours that wait before we stop reading what the server asks. */
const MAX_WAITING_NOTICES = 256

export class HttpSender {
  readonly #server: URL
  readonly #lanes: Readonly<Record<LaneKind, Lane>>
  /** Responses that are not read for now. */
  readonly #paused = new Set<Attempt>()
  readonly #pool: Pool
  readonly #label: string
  readonly #limits: HttpClientLimits
  readonly #authorize: Authorizer | undefined
  readonly #fixedHeaders: string[]
  readonly #makeHeaders: (() => ExtraHeaders | Promise<ExtraHeaders>) | undefined

  constructor(server: URL, label: string, limits: HttpClientLimits, options: HttpTargetOptions) {
    this.#server = server
    this.#label = label
    this.#limits = limits
    this.#authorize = options.authorize
    const { headers = {} } = options
    this.#makeHeaders = typeof headers === 'function' ? headers : undefined
    this.#fixedHeaders = typeof headers === 'function' ? [] : listed(headers)
    const { maxConnections, maxStreams } = limits
    this.#lanes = {
      call: new Lane(maxConnections),
      notice: new Lane(NOTICE_CONNECTIONS, () => this.#readOn()),
      stream: new Lane(maxStreams),
    }
    this.#pool = new Pool(server.origin, {
      // One more for the goodbye of a session.
      connections: maxConnections + maxStreams + NOTICE_CONNECTIONS + 1,
      // What may take how long is known to whoever asked; the pool knows only how long making a connection may take.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: limits.maxHeaderBytes,
      connect: { ...options.tls, timeout: limits.connectTimeoutMs },
    })
  }

  send(request: HttpRequest, reply: ResponseHandler): Sending {
    const place = new LanePlace()
    const history = { redirects: 0, tries: 0, waits: 0, permission: this.#permission(request), place }
    const attempt = new Attempt(this, request, reply, history)
    const lane = this.#laneOf(request)
    if (!lane) attempt.start()
    else if (!lane.hasRoom && lane.waiting >= this.#limits.maxQueued) attempt.refuse(this.#queueFault())
    else place.enter(lane, () => attempt.start())
    return attempt
  }

  /** A call that is answered with a stream no longer keeps other calls waiting, unless there are too many such streams. */
  isStream(place: LanePlace): void {
    place.moveTo(this.#lanes.stream)
  }

  /** Whether so many answers of ours wait that the server must wait with its questions. */
  get isBehind(): boolean {
    return this.#lanes.notice.waiting >= MAX_WAITING_NOTICES
  }

  /** Reads on with this attempt when the answers of ours have left. */
  pause(attempt: Attempt): void {
    this.#paused.add(attempt)
  }

  unpause(attempt: Attempt): void {
    this.#paused.delete(attempt)
  }

  async close(): Promise<void> {
    await this.#pool.destroy().catch(() => {})
  }

  get limits(): HttpClientLimits {
    return this.#limits
  }

  get label(): string {
    return this.#label
  }

  /** At once when nothing has to be waited for. */
  extraHeaders(permission: Permission | undefined): string[] | Promise<string[]> {
    return permission || this.#makeHeaders ? this.#askForHeaders(permission) : this.#fixedHeaders
  }

  dispatch(
    { method, url, headers, body, timeoutMs = 0 }: HttpRequest,
    extra: readonly string[],
    handler: Dispatcher.DispatchHandler,
  ): void {
    this.#pool.dispatch(
      {
        method,
        path: url.pathname + url.search,
        headers: extra.length > 0 ? [...extra, ...headers] : headers,
        body: body ?? null,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      },
      handler,
    )
  }

  faultOf(error: unknown): McpError {
    return networkFault(this.#label, error, this.#limits)
  }

  #laneOf({ method, lane }: HttpRequest): Lane | undefined {
    if (method === 'DELETE') return undefined
    return this.#lanes[lane ?? (method === 'GET' ? 'stream' : 'call')]
  }

  #queueFault(): McpError {
    const { maxConnections, maxQueued } = this.#limits
    const bounds = `limits.maxConnections is ${maxConnections}, limits.maxQueued is ${maxQueued}`
    return new McpError('ERR_LIMIT', `Too many requests wait for a connection to ${this.#label} (${bounds})`)
  }

  #readOn(): void {
    if (this.#paused.size === 0 || this.#lanes.notice.waiting > MAX_WAITING_NOTICES / 2) return
    const paused = [...this.#paused]
    this.#paused.clear()
    // Not now: this may be called while another response is parsed, and undici parses one at a time.
    queueMicrotask(() => {
      for (const attempt of paused) attempt.readOn()
    })
  }

  async #askForHeaders(permission: Permission | undefined): Promise<string[]> {
    const made = this.#makeHeaders ? listed(await this.#makeHeaders()) : this.#fixedHeaders
    if (!permission) return made
    const granted = await permission.authorize.headers(permission.request)
    permission.sent = granted
    const names = Object.keys(granted)
    return names.length === 0 ? made : [...names.reduce(without, made), ...Object.entries(granted).flat()]
  }

  #permission({ method, url, headers }: HttpRequest): Permission | undefined {
    if (!this.#authorize) return undefined
    const gone = new AbortController()
    const operation = operationOf(method, headers)
    const version = valueIn(headers, 'mcp-protocol-version')
    const request = { method, url, server: this.#server, operation, version, signal: gone.signal }
    return { authorize: this.#authorize, request, sent: {}, gone }
  }
}

/** The permission of one request, for all attempts at it. */
interface Permission {
  authorize: Authorizer
  request: SentRequest
  /** What the last attempt was sent with. */
  sent: Readonly<Record<string, string>>
  gone: AbortController
}

/** What happened to a request before this attempt at it. */
interface History {
  redirects: number
  /** How often the server refused it and it was worth another try. */
  tries: number
  /** How often the server was busy. */
  waits: number
  permission: Permission | undefined
  place: LanePlace
}

/** Old tokens, a nonce that was wanted, a login, more scopes: all of it once for one request. */
const MAX_TRIES = 4
const HELD_INTERVAL_MS = 250
const MAX_HELD_BYTES = 64 * 1024
const BUSY = new Set([429, 503])
const MIN_BUSY_WAIT_MS = 50

interface HeldBody {
  chunks: Buffer[]
  size: number
  isEnded: boolean
}

const ABORTED = new Error('The request was broken off')
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Those that ask for the same request again; the others would turn a POST into a GET. */
const FAITHFUL_REDIRECTS = new Set([307, 308])
const PLAIN_ENCODINGS = new Set(['', 'identity'])

class Attempt implements Sending, Dispatcher.DispatchHandler {
  readonly #sender: HttpSender
  readonly #request: HttpRequest
  readonly #reply: ResponseHandler
  readonly #history: History
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  /** What a refusal says, while it is not known whether it stands. */
  #held: HeldBody | undefined
  /** The attempt that took the place of this one. */
  #next: Attempt | undefined
  /** Set while a busy server is left alone. */
  #wait: Timer | undefined

  constructor(sender: HttpSender, request: HttpRequest, reply: ResponseHandler, history: History) {
    this.#sender = sender
    this.#request = request
    this.#reply = reply
    this.#history = history
  }

  start(): void {
    const extra = this.#sender.extraHeaders(this.#history.permission)
    if (Array.isArray(extra)) return this.#dispatch(extra)
    extra.then(
      (headers) => this.#dispatch(headers),
      (error: unknown) => this.#fail(error),
    )
  }

  /** It is not sent. The caller hears of it after it got hold of the attempt. */
  refuse(error: McpError): void {
    queueMicrotask(() => this.#fail(error))
  }

  readOn(): void {
    this.#controller?.resume()
  }

  abort(): void {
    this.#next?.abort()
    if (this.#isOver) return
    this.#history.permission?.gone.abort(ABORTED)
    this.#stop()
    this.#history.place.leave()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(ABORTED)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver || status < 200) return
    const encoding = headers['content-encoding']
    if (encoding !== undefined && !PLAIN_ENCODINGS.has(String(encoding).toLowerCase())) {
      const message = `${this.#sender.label} sent a compressed answer (${JSON.stringify(encoding)}), which was not asked for`
      return this.#fail(new McpError('ERR_ANSWER_INVALID', message))
    }
    if (REDIRECTS.has(status)) return this.#redirect(status, headers.location)
    const { permission, tries } = this.#history
    // Whoever says goodbye needs no permission any more, and nobody is asked for some.
    const mayAsk = permission && tries < MAX_TRIES && this.#request.method !== 'DELETE'
    if (mayAsk && (status === 401 || status === 403)) {
      const held: HeldBody = { chunks: [], size: 0, isEnded: false }
      this.#held = held
      this.#askForMore(permission, status, headers).then(
        (isWorthIt) => {
          if (!isWorthIt) return this.#goOn(held, status, headers)
          this.#reply.onPermitted?.()
          this.#again(this.#request, { ...this.#history, tries: tries + 1 })
        },
        (error: unknown) => this.#fail(error),
      )
      return
    }
    const waitMs = BUSY.has(status) ? this.#busyWait(headers['retry-after']) : undefined
    if (waitMs !== undefined) return this.#sendLater(waitMs)
    permission?.authorize.onResponse?.(permission.request, headers)
    if (mediaTypeOf(headers['content-type']) === 'text/event-stream') this.#sender.isStream(this.#history.place)
    this.#reply.onHead(status, headers)
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    if (!this.#held) {
      this.#reply.onData(chunk)
      // What the server asks is answered by requests of ours: those are not piled up without bound.
      if (this.#sender.isBehind && this.#request.lane !== 'notice' && !this.#isOver) {
        this.#controller?.pause()
        this.#sender.pause(this)
      }
      return
    }
    this.#held.size += chunk.length
    if (this.#held.size <= MAX_HELD_BYTES) this.#held.chunks.push(chunk)
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    if (this.#held) {
      this.#held.isEnded = true
      return
    }
    this.#isOver = true
    this.#sender.unpause(this)
    this.#history.place.leave()
    this.#reply.onEnd()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    // A server need not keep the connection while a person logs in: what it had to say has been heard.
    if (this.#held) this.#held.isEnded = true
    else this.#fail(error)
  }

  #stop(): void {
    this.#isOver = true
    this.#wait?.cancel()
    this.#sender.unpause(this)
    this.#controller?.abort(ABORTED)
  }

  /** How long to leave a busy server alone before the request is sent again; undefined when its refusal stands. */
  #busyWait(retryAfter: string | undefined): number | undefined {
    const { maxBusyRetries, maxRetryAfterMs } = this.#sender.limits
    const toldMs = retryAfterIn(retryAfter)
    // A stream that is got by GET has a patience of its own.
    if (toldMs === undefined || toldMs > maxRetryAfterMs || this.#request.method !== 'POST') return undefined
    if (this.#history.waits >= maxBusyRetries) return undefined
    // Many that were refused at the same time do not come back as one.
    return Math.max(toldMs, MIN_BUSY_WAIT_MS) * (1 + Math.random() / 4)
  }

  /** The server was busy and has not looked at the request. It keeps its place in the lane: the server wants less from us, not more. */
  #sendLater(waitMs: number): void {
    this.#held = { chunks: [], size: 0, isEnded: false }
    const over = performance.now() + waitMs
    const wait = (): void => {
      const leftMs = over - performance.now()
      if (leftMs <= 0) return this.#again(this.#request, { ...this.#history, waits: this.#history.waits + 1 })
      this.#reply.onBusy?.()
      this.#wait = systemClock.after(Math.min(leftMs, HELD_INTERVAL_MS), wait)
    }
    wait()
  }

  #dispatch(extra: readonly string[]): void {
    if (this.#isOver) return
    try {
      this.#sender.dispatch(this.#request, extra, this)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #askForMore({ authorize, request, sent }: Permission, status: number, headers: IncomingHttpHeaders): Promise<boolean> {
    const held = setInterval(() => this.#reply.onHeld?.(), HELD_INTERVAL_MS)
    try {
      return await authorize.onUnauthorized({ request, status, headers, sent })
    } finally {
      clearInterval(held)
    }
  }

  /** The refusal stands: it is told like any other answer. */
  #goOn({ chunks, isEnded }: HeldBody, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver) return
    this.#held = undefined
    this.#reply.onHead(status, headers)
    for (const chunk of chunks) this.#reply.onData(chunk)
    if (isEnded) this.onResponseEnd()
  }

  #redirect(status: number, location: string | undefined): void {
    const { method, url } = this.#request
    const { label } = this.#sender
    const { maxRedirects } = this.#sender.limits
    const next = location === undefined ? undefined : parsed(location, url)
    const refuse = (why: string): void =>
      this.#fail(new McpError('ERR_HTTP', `${label} redirected (${status}) ${why}`, { data: { status } }))
    if (next === undefined) return refuse('to nowhere')
    if (next.origin !== url.origin) {
      return this.#fail(
        new McpError('ERR_INSECURE', `${label} redirected (${status}) to another origin, ${next.origin}; give that URL if it is meant`),
      )
    }
    if (method !== 'GET' && !FAITHFUL_REDIRECTS.has(status)) return refuse(`in a way that would turn ${method} into GET`)
    if (this.#history.redirects >= maxRedirects) return refuse(`more than ${maxRedirects} times (limits.maxRedirects)`)
    const { permission, redirects } = this.#history
    const moved = permission && { ...permission, request: { ...permission.request, url: next } }
    this.#again({ ...this.#request, url: next }, { ...this.#history, redirects: redirects + 1, permission: moved })
  }

  #again(request: HttpRequest, history: History): void {
    if (this.#isOver) return
    this.#stop()
    this.#next = new Attempt(this.#sender, request, this.#reply, history)
    this.#next.start()
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#stop()
    this.#history.place.leave()
    this.#reply.onFail(this.#sender.faultOf(error))
  }
}

/** What a message says it does, else what is done. */
function operationOf(method: string, headers: readonly string[]): string {
  const name = valueIn(headers, 'mcp-name')
  const said = valueIn(headers, 'mcp-method')
  return name === undefined ? (said ?? method) : `${said} ${name}`
}

const valueIn = (headers: readonly string[], name: string): string | undefined =>
  headers.includes(name) ? headers[headers.indexOf(name) + 1] : undefined

function parsed(location: string, base: URL): URL | undefined {
  try {
    return new URL(location, base)
  } catch {
    return undefined
  }
}

/** Headers that say what the message says, or what the connection needs; nobody else may set them. */
const OWN_HEADERS = /^(?:accept|accept-encoding|content-type|content-length|connection|host|transfer-encoding|last-event-id|mcp-.*)$/

function listed(headers: ExtraHeaders): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    if (OWN_HEADERS.test(lower)) throw new McpError('ERR_UNSUPPORTED', `The header ${JSON.stringify(name)} is set by the transport`)
    return [lower, value]
  })
}

const without = (headers: readonly string[], name: string): string[] => headers.filter((_, i) => headers[i - (i % 2)] !== name)
