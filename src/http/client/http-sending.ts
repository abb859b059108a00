/** One HTTP request with all its attempts: waiting for a connection, permission, redirects, a busy server, the response. */

import type { IncomingHttpHeaders } from 'node:http'
import { systemClock, type Timer } from '../../base/clock.ts'
import { GatheredBytes } from '../../base/gathered-bytes.ts'
import { McpError } from '../../protocol/errors.ts'
import { retryAfterIn, statusName, wordsIn } from './classify-refusal.ts'
import type { ConnectionPool, Permission } from './connection-pool.ts'
import { networkFault } from './errors.ts'
import { mediaTypeOf } from './headers.ts'
import type { AttemptControl, AttemptHandler, HttpRequest, ResponseHandler, Sending } from './http-request.ts'
import { type Lane, LanePlace } from './lane.ts'

/** An expired token, a missing nonce, a login, more scopes: each may need one more attempt. */
const MAX_PERMISSION_ATTEMPTS = 4
const HELD_INTERVAL_MS = 250
const MAX_HELD_BYTES = 64 * 1024
const BUSY = new Set([429, 503])
const MIN_BUSY_WAIT_MS = 50
/** Retries after 429 or 503. The timeout of the call limits the time; this limits the load on a server that stays busy. */
const MAX_BUSY_RETRIES = 5
/** The longest Retry-After that the client waits for. A longer one is an error at once, because most callers have a timeout of 60 s. */
const MAX_RETRY_AFTER_MS = 30_000
/** Requests that wait for a connection. More are a fault of the program, and would only grow the memory. */
const MAX_QUEUED = 10_000
const ABORTED = new Error('The request was aborted')
/** Redirects of one request. They stay on one origin, so a longer chain is a loop. */
const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** The redirects that keep the method. The others turn a POST into a GET. */
const REDIRECTS_WITH_METHOD = new Set([307, 308])
const PLAIN_ENCODINGS = new Set(['', 'identity'])

/** The body of a refusal, kept until it is decided whether the request is sent again. */
interface HeldBody {
  readonly bytes: GatheredBytes
  isEnded: boolean
  onEnd?: (body: Uint8Array) => void
}

const nothingHeld = (): HeldBody => ({ bytes: new GatheredBytes(), isEnded: false })

const namesIn = (headers: readonly string[]): string[] => headers.filter((_, at) => at % 2 === 0)

export class HttpSending implements Sending, AttemptHandler {
  readonly #connections: ConnectionPool
  readonly #handler: ResponseHandler
  readonly #place = new LanePlace()
  #request: HttpRequest
  #permission: Permission | undefined
  /** The controller of the current attempt. Callbacks of earlier attempts come with another controller and are ignored. */
  #controller: AttemptControl | undefined
  #redirects = 0
  #permissionAttempts = 0
  #busyRetries = 0
  #isOver = false
  #held: HeldBody | undefined
  /** The headers of the caller and of the login in the current attempt, names and values in turn. */
  #extra: readonly string[] = []
  /** Set while the request waits for a busy server. */
  #wait: Timer | undefined

  constructor(connections: ConnectionPool, request: HttpRequest, handler: ResponseHandler, permission: Permission | undefined) {
    this.#connections = connections
    this.#request = request
    this.#handler = handler
    this.#permission = permission
  }

  /** Sends the request as soon as the lane has room. */
  start(lane: Lane | undefined): void {
    if (!lane) return this.#attempt()
    // The caller must have this object before its failure callback runs.
    if (!lane.hasRoom && lane.waiting >= MAX_QUEUED) return queueMicrotask(() => this.#fail(this.#queueFault()))
    this.#place.enter(lane, () => this.#attempt())
  }

  /** Continues to read a response that was paused. */
  resume(): void {
    this.#controller?.resume()
  }

  abort(): void {
    if (this.#isOver) return
    this.#permission?.gone.abort(ABORTED)
    this.#stop()
  }

  onRequestStart(controller: AttemptControl): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(ABORTED)
  }

  onResponseStart(controller: AttemptControl, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isStale(controller) || status < 200) return
    this.#connections.onExchange?.({ ...this.#request, hiddenHeaders: namesIn(this.#extra), status, responseHeaders: headers })
    const encoding = headers['content-encoding']
    if (encoding !== undefined && !PLAIN_ENCODINGS.has(String(encoding).toLowerCase())) {
      const message = `${this.#connections.server} sent a compressed response (${JSON.stringify(encoding)}), which was not requested`
      return this.#fail(new McpError('ERR_ANSWER_INVALID', message))
    }
    if (REDIRECTS.has(status)) return this.#redirect(status, headers.location)
    const permission = this.#permission
    // The DELETE that ends a session is not worth a login.
    const mayAsk = permission && this.#permissionAttempts < MAX_PERMISSION_ATTEMPTS && this.#request.method !== 'DELETE'
    if (mayAsk && (status === 401 || status === 403)) return this.#askForPermission(permission, status, headers)
    const waitMs = BUSY.has(status) ? this.#busyWait(headers['retry-after']) : undefined
    if (waitMs !== undefined) return this.#sendLater(waitMs, status)
    permission?.authorize.onResponse?.(permission.request, headers)
    // A call that is answered with a stream moves to the lane of streams, so that other calls need not wait for it.
    if (mediaTypeOf(headers['content-type']) === 'text/event-stream') this.#place.moveTo(this.#connections.lanes.stream)
    this.#handler.onHead(status, headers)
  }

  onResponseData(controller: AttemptControl, chunk: Uint8Array): void {
    if (this.#isStale(controller)) return
    if (this.#held) {
      const { bytes } = this.#held
      bytes.add(chunk.subarray(0, MAX_HELD_BYTES - bytes.size))
      return
    }
    this.#handler.onData(chunk)
    // Our responses to the server's requests are POSTs, too. They must not pile up without bound.
    if (this.#connections.isBehind && this.#request.lane !== 'notice' && !this.#isOver) {
      controller.pause()
      this.#connections.pause(this)
    }
  }

  onResponseEnd(controller: AttemptControl): void {
    if (this.#isStale(controller)) return
    if (!this.#held) return this.#finish()
    this.#held.isEnded = true
    this.#held.onEnd?.(this.#held.bytes.all)
  }

  onResponseError(controller: AttemptControl, error: Error): void {
    if (this.#isStale(controller)) return
    // A server may close the connection while a person logs in. The refusal has been read by then.
    if (this.#held) this.#held.isEnded = true
    else this.#fail(error)
  }

  /** @param controller none when the connection failed before the request was sent */
  #isStale(controller: AttemptControl | null): boolean {
    return this.#isOver || (controller ?? undefined) !== this.#controller
  }

  #attempt(): void {
    const extra = this.#connections.extraHeaders(this.#permission)
    if (Array.isArray(extra)) return this.#dispatch(extra)
    extra.then(
      (headers) => this.#dispatch(headers),
      (error: unknown) => this.#fail(error),
    )
  }

  #dispatch(extra: readonly string[]): void {
    if (this.#isOver) return
    this.#extra = extra
    const { method, url, headers, body = null, timeoutMs = 0 } = this.#request
    try {
      this.#connections.pool.dispatch(
        {
          method,
          path: url.pathname + url.search,
          headers: extra.length > 0 ? [...extra, ...headers] : headers,
          body,
          headersTimeout: timeoutMs,
          bodyTimeout: timeoutMs,
        },
        this,
      )
    } catch (error) {
      this.#fail(error)
    }
  }

  #attemptAgain(): void {
    if (this.#isOver) return
    const controller = this.#controller
    this.#controller = undefined
    this.#held = undefined
    controller?.abort(ABORTED)
    this.#attempt()
  }

  #askForPermission(permission: Permission, status: number, headers: IncomingHttpHeaders): void {
    const held = nothingHeld()
    this.#held = held
    this.#isPermitted(permission, status, headers).then(
      (isGranted) => {
        if (!isGranted) return this.#deliver(held, status, headers)
        this.#handler.onPermitted?.()
        this.#permissionAttempts++
        this.#attemptAgain()
      },
      (error: unknown) => this.#fail(error),
    )
  }

  async #isPermitted({ authorize, request, sent }: Permission, status: number, headers: IncomingHttpHeaders): Promise<boolean> {
    const timer = setInterval(() => this.#handler.onHeld?.(), HELD_INTERVAL_MS)
    try {
      return await authorize.onUnauthorized({ request, status, headers, sent })
    } finally {
      clearInterval(timer)
    }
  }

  /** The refusal is final: the caller gets it like any other response. */
  #deliver({ bytes, isEnded }: HeldBody, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver) return
    this.#held = undefined
    this.#handler.onHead(status, headers)
    this.#handler.onData(bytes.all)
    if (isEnded && !this.#isOver) this.#finish()
  }

  /** How long to wait before the request is sent again; undefined when the refusal is final. */
  #busyWait(retryAfter: string | undefined): number | undefined {
    const waitMs = retryAfterIn(retryAfter)
    // A stream that is opened by GET has its own retries.
    if (waitMs === undefined || waitMs > MAX_RETRY_AFTER_MS || this.#request.method !== 'POST') return undefined
    if (this.#busyRetries >= MAX_BUSY_RETRIES) return undefined
    // Spread out, because many requests may have been refused at the same moment.
    return Math.max(waitMs, MIN_BUSY_WAIT_MS) * (1 + Math.random() / 4)
  }

  #tellBusy(waitMs: number, status: number, body: Uint8Array): void {
    const { server } = this.#connections
    const words = wordsIn(new TextDecoder().decode(body))
    this.#connections.tellBusy(`${server} answered ${statusName(status)}${words}. Trying again in ${Math.ceil(waitMs / 1000)} s`)
  }

  /** The server was busy and did not process the request. It keeps its place in the lane: the server wants fewer requests, not more. */
  #sendLater(waitMs: number, status: number): void {
    const held = nothingHeld()
    this.#held = held
    // One short wait is usual.
    if (this.#busyRetries === 1) held.onEnd = (body) => this.#tellBusy(waitMs, status, body)
    const over = performance.now() + waitMs
    const wait = (): void => {
      const leftMs = over - performance.now()
      if (leftMs <= 0) {
        this.#busyRetries++
        return this.#attemptAgain()
      }
      this.#handler.onBusy?.()
      this.#wait = systemClock.after(Math.min(leftMs, HELD_INTERVAL_MS), wait)
    }
    wait()
  }

  #redirect(status: number, location: string | undefined): void {
    const { method, url } = this.#request
    const { server } = this.#connections
    const next = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined
    const refuse = (why: string): void =>
      this.#fail(new McpError('ERR_HTTP', `${server} redirected (${status}) ${why}`, { data: { status } }))
    if (next === undefined) return refuse('without a valid location')
    if (next.origin !== url.origin) {
      const message = `${server} redirected (${status}) to another origin, ${next.origin}; connect to that URL directly if you trust it`
      return this.#fail(new McpError('ERR_INSECURE', message))
    }
    if (method !== 'GET' && !REDIRECTS_WITH_METHOD.has(status)) return refuse(`in a way that would turn ${method} into GET`)
    if (this.#redirects >= MAX_REDIRECTS) return refuse(`more than ${MAX_REDIRECTS} times`)
    this.#redirects++
    this.#request = { ...this.#request, url: next }
    if (this.#permission) this.#permission = { ...this.#permission, request: { ...this.#permission.request, url: next } }
    this.#attemptAgain()
  }

  #finish(): void {
    this.#isOver = true
    this.#connections.unpause(this)
    this.#place.leave()
    this.#handler.onEnd()
  }

  #stop(): void {
    this.#isOver = true
    this.#wait?.cancel()
    this.#connections.unpause(this)
    this.#controller?.abort(ABORTED)
    this.#place.leave()
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#stop()
    this.#handler.onFail(networkFault(this.#connections.server, error))
  }

  #queueFault(): McpError {
    const bounds = `at most ${MAX_QUEUED}; limits.maxConnections is ${this.#connections.limits.maxConnections}`
    return new McpError('ERR_LIMIT', `Too many requests wait for a connection to ${this.#connections.server} (${bounds})`)
  }
}
