/** Serves at a port of this machine, and shuts down without losing answers. */

import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { isLoopbackAddress } from '../../base/address/loopback.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Service } from '../../protocol/interfaces/service.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { pathOf } from './endpoint.ts'
import { FIXED_HTTP_LIMITS, type FixedHttpLimits } from './fixed-limits.ts'
import { createHandler, type HttpHandler } from './handler.ts'
import { addressKey } from './limits/client-address.ts'
import { DEFAULT_HTTP_LIMITS, type HttpOptions } from './options.ts'
import { NodeRequestReply } from './runtime/node.ts'
import type { BodyBounds } from './runtime/request-reply.ts'

/** Options of {@link listen}. */
export interface ListenOptions extends HttpOptions {
  /** Default: 0, any free port. */
  port?: number
  /** The address to listen on. Default: 127.0.0.1, this machine only. */
  host?: string
  /** The path of the endpoint. Default: `/mcp`. */
  path?: string
  /** Key and certificate, for https. */
  tls?: SecureContextOptions
  /** Open connections of this process. Default: 12,000. */
  maxConnections?: number
  /** Open connections from one address. Default: 256; false with `trustProxy`. */
  maxConnectionsPerAddress?: number | false
  /** How long requests in progress may take after the server was asked to close. Default: 10 s. */
  graceMs?: number
  /** Whether SIGTERM and SIGINT close the server and end the process. Default: true. */
  handleSignals?: boolean
}

/** A server that listens at a port. */
export interface Listening {
  /** The URL of the endpoint. */
  readonly url: string
  readonly port: number
  readonly handler: HttpHandler
  /** Resolves when the server has closed. */
  readonly closed: Promise<void>
  /** Answers the requests in progress, then closes. */
  close(): Promise<void>
}

const DEFAULTS: Required<Pick<ListenOptions, 'host' | 'path' | 'maxConnections' | 'maxConnectionsPerAddress' | 'graceMs'>> = {
  host: '127.0.0.1',
  path: '/mcp',
  maxConnections: 12_000,
  maxConnectionsPerAddress: 256,
  graceMs: 10_000,
}

/** How long the head of a request may take. */
const HEADERS_TIMEOUT_MS = 10_000
const SWEEP_MS = 5_000
/** The longest time that a timer supports. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1
/** Longer than load balancers usually keep a connection, so that the server never closes one under a request. */
const KEEP_ALIVE_MS = 65_000
const MAX_HEADER_BYTES = 16 * 1024

/**
 * Serves a server at a port of this machine.
 *
 * @example
 * ```ts
 * const { url, close } = await listen(server, { port: 3000 })
 * ```
 */
export async function listen(service: Service, options: ListenOptions = {}): Promise<Listening> {
  return listenWith(service, options, FIXED_HTTP_LIMITS)
}

/** The same with other fixed limits, for tests. */
export async function listenWith(service: Service, options: ListenOptions, fixed: FixedHttpLimits): Promise<Listening> {
  // Behind a proxy every connection comes from the same address.
  const defaults = options.trustProxy ? { ...DEFAULTS, maxConnectionsPerAddress: false as const } : DEFAULTS
  const settings = withDefaults(defaults, options)
  checkPath(settings)
  checkPublicAddress(settings)
  const handler = createHandler(service, options, fixed)
  const { path } = settings
  const limits = { ...withDefaults(DEFAULT_HTTP_LIMITS, options.limits), ...fixed }
  const { stallMs } = limits
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const url = request.url as string
    const isOurs = isServed(url, path, options.legacySse !== false) || isOperation(pathOf(url), options)
    if (isOurs || isDocument(options, pathOf(url))) return handler.node(request, response)
    const exchange = new NodeRequestReply(request, response, undefined, stallMs)
    exchange.send(handler.isReady ? 404 : 503, { 'content-type': 'text/plain' }, `The endpoint is ${path}\n`)
  }
  const serverOptions = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: requestTimeoutOf(limits),
    connectionsCheckingInterval: SWEEP_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    noDelay: true,
  }
  const server: HttpServer = settings.tls
    ? createHttpsServer({ ...serverOptions, ...settings.tls, minVersion: 'TLSv1.2' }, onRequest)
    : createHttpServer(serverOptions, onRequest)
  // A client may close its side of the connection and still wait for the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.maxConnections = settings.maxConnections
  if (settings.maxConnectionsPerAddress !== false) limitPerAddress(server, settings.maxConnectionsPerAddress)
  await start(server, settings.port ?? 0, settings.host)
  const { port, address, family } = server.address() as AddressInfo
  const name = family === 'IPv6' ? `[${address}]` : address
  const shutdown = new Shutdown(server, handler, settings.graceMs)
  if (options.handleSignals !== false) shutdown.followSignals()
  return {
    url: `${settings.tls ? 'https' : 'http'}://${name}:${port}${path}`,
    port,
    handler,
    closed: shutdown.closed,
    close: () => shutdown.close(),
  }
}

/**
 * The time limit that Node applies to a whole request: the time for the largest body at `minBodyRate`. It covers requests
 * whose body is never read. Other requests are checked while their body is read.
 */
export function requestTimeoutOf({ maxBodyBytes, minBodyRate, bodyGraceMs }: BodyBounds): number {
  const ms = HEADERS_TIMEOUT_MS + 2 * bodyGraceMs + Math.ceil((maxBodyBytes / minBodyRate) * 1000)
  return Number.isFinite(ms) ? Math.min(ms, MAX_TIMEOUT_MS) : 0
}

/** Whether a URL is the endpoint, or one of the two of the legacy transport. */
function isServed(url: string, path: string, hasLegacy: boolean): boolean {
  // The guard refuses a target that is neither a path nor a URL, and checks the host of a URL.
  if (!url.startsWith('/') && !/^https?:\/\//i.test(url)) return true
  const asked = pathOf(url)
  if (asked === path || asked === `${path}/`) return true
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  return hasLegacy && (asked === `${folder}sse` || asked === `${folder}messages`)
}

/** Whether a path serves health or metrics. */
function isOperation(path: string, { health, metrics }: HttpOptions): boolean {
  return (Boolean(health) && (path === '/healthz' || path === '/readyz')) || (Boolean(metrics) && path === '/metrics')
}

function checkPath({ path, legacySse, ...options }: ListenOptions & { path: string }): void {
  if (isOperation(path, options)) throw new McpError('ERR_DEFINITION', `${path} serves health or metrics: choose another path`)
  if (!path.startsWith('/')) throw new McpError('ERR_DEFINITION', `The path must begin with a slash, not ${JSON.stringify(path)}`)
  if (legacySse !== false && path.endsWith('/messages')) {
    throw new McpError(
      'ERR_DEFINITION',
      `${path} is reserved for clients of the legacy transport: choose another path, or set legacySse: false`,
    )
  }
}

function checkPublicAddress({ host, allowedHosts, auth, authenticate, dangerouslyAllowAnyHost }: ListenOptions & { host: string }): void {
  if (host === 'localhost' || isLoopbackAddress(host) || allowedHosts || auth || authenticate || dangerouslyAllowAnyHost) return
  throw new McpError(
    'ERR_DEFINITION',
    `Listening on ${host} makes the server public: set allowedHosts to the host names that clients use, or make callers authenticate (auth)`,
  )
}

function limitPerAddress(server: HttpServer, max: number): void {
  const counts = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = addressKey(socket.remoteAddress ?? '')
    const count = (counts.get(address) ?? 0) + 1
    if (count > max) return socket.destroy()
    counts.set(address, count)
    socket.once('close', () => {
      const left = (counts.get(address) ?? 1) - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    })
    return undefined
  })
}

const start = (server: HttpServer, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: 4096 }, () => {
      server.off('error', reject)
      // A connection that could not be accepted is lost. The open ones and the process go on.
      server.on('error', (error) => console.error('portico: the HTTP server could not accept a connection:', error))
      resolve()
    })
  })

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** The servers that close on a signal. The process ends when all have closed. */
const following = new Set<Shutdown>()
let isSignalled = false

function onSignal(): void {
  // A second signal ends the process at once.
  if (isSignalled) process.exit(0)
  isSignalled = true
  void Promise.all([...following].map((shutdown) => shutdown.close())).then(() => process.exit(0))
}

/** The shutdown: no new requests, answers to those in progress, a clean end for idle streams, then all connections are closed. */
class Shutdown {
  readonly closed: Promise<void>
  readonly #server: HttpServer
  readonly #handler: HttpHandler
  readonly #graceMs: number
  #settle: () => void = () => {}
  #isClosing = false

  constructor(server: HttpServer, handler: HttpHandler, graceMs: number) {
    this.#server = server
    this.#handler = handler
    this.#graceMs = graceMs
    this.closed = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  followSignals(): void {
    if (following.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal)
    following.add(this)
  }

  async close(): Promise<void> {
    if (this.#isClosing) return this.closed
    this.#isClosing = true
    await this.#handler.drain(this.#graceMs)
    const over = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    const ended = this.#handler.close()
    this.#server.closeIdleConnections()
    // The last bytes of the answers may still be on their way.
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 500).unref())])
    this.#server.closeAllConnections()
    await ended
    if (following.delete(this) && following.size === 0) for (const signal of SIGNALS) process.off(signal, onSignal)
    this.#settle()
  }
}

/** Whether a public document is at this path, beside the endpoint. */
const isDocument = ({ auth, card }: HttpOptions, path: string): boolean =>
  (auth?.document('GET', path) ?? card?.document('GET', path, { header: () => undefined })) !== undefined
