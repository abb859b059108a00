/** A server at a port: Node's own HTTP server with bounds on everything, and an end that loses nothing. */

import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { isLoopbackAddress } from '../../base/address/loopback.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Service } from '../../protocol/seams/service.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { addressKey } from './address.ts'
import type { BodyBounds } from './ask.ts'
import { pathOf } from './endpoint.ts'
import { type HttpHandler, httpHandler } from './handler.ts'
import { NodeVisit } from './node.ts'
import { DEFAULT_HTTP_LIMITS, type HttpOptions } from './options.ts'

export interface ListenOptions extends HttpOptions {
  /** 0 takes any that is free. */
  port?: number
  /** The address to listen at: only this machine unless given. */
  host?: string
  /** The path of the endpoint. */
  path?: string
  /** Key and certificate, for https. */
  tls?: SecureContextOptions
  /** Connections at the same time: of this process, and from one address (false, and not counted, with `trustProxy`). */
  maxConnections?: number
  maxConnectionsPerAddress?: number | false
  /** How long work in hand may go on after the server was asked to end. */
  graceMs?: number
  /** False leaves SIGTERM and SIGINT to the program. */
  handleSignals?: boolean
}

export interface Listening {
  /** Where clients reach it. */
  readonly url: string
  readonly port: number
  readonly handler: HttpHandler
  /** Resolves when it has ended. */
  readonly closed: Promise<void>
  /** Finishes what is in hand and ends. */
  close(): Promise<void>
}

const DEFAULTS: Required<Pick<ListenOptions, 'host' | 'path' | 'maxConnections' | 'maxConnectionsPerAddress' | 'graceMs'>> = {
  host: '127.0.0.1',
  path: '/mcp',
  maxConnections: 12_000,
  maxConnectionsPerAddress: 256,
  graceMs: 10_000,
}

const HEADERS_TIMEOUT_MS = 10_000
const SWEEP_MS = 5_000
/** More than that no timer takes. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1
/** Longer than balancers usually keep a connection, so that it is never we who close it under a request. */
const KEEP_ALIVE_MS = 65_000
const MAX_HEADER_BYTES = 16 * 1024

/** Listens, and resolves when requests can come. */
export async function listen(service: Service, options: ListenOptions = {}): Promise<Listening> {
  // Behind a proxy every connection comes from the same address.
  const settings = withDefaults({ ...DEFAULTS, ...(options.trustProxy ? { maxConnectionsPerAddress: false as const } : {}) }, options)
  refusePath(settings)
  refusePublic(settings)
  const handler = httpHandler(service, options)
  const { path } = settings
  const limits = withDefaults(DEFAULT_HTTP_LIMITS, options.limits)
  const { stallMs } = limits
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const url = request.url as string
    if (isServed(url, path, options.legacySse !== false) || options.auth?.document('GET', pathOf(url)))
      return handler.node(request, response)
    const visit = new NodeVisit(request, response, undefined, stallMs)
    visit.send(handler.isReady ? 404 : 503, { 'content-type': 'text/plain' }, `The endpoint is ${path}\n`)
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
  // Who has said all it wants to say may still wait for the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.maxConnections = settings.maxConnections
  if (settings.maxConnectionsPerAddress !== false) limitPerAddress(server, settings.maxConnectionsPerAddress)
  await start(server, settings.port ?? 0, settings.host)
  const { port, address, family } = server.address() as AddressInfo
  const name = family === 'IPv6' ? `[${address}]` : address
  const ending = new Ending(server, handler, settings.graceMs)
  if (options.handleSignals !== false) ending.followSignals()
  return {
    url: `${settings.tls ? 'https' : 'http'}://${name}:${port}${path}`,
    port,
    handler,
    closed: ending.closed,
    close: () => ending.close(),
  }
}

/**
 * How long Node lets a request take. The pace of a body is judged by `minBodyRate` (an average a second, over
 * `bodyGraceMs`); this is what the longest body may take at that pace, for requests whose body nobody reads.
 */
export function requestTimeoutOf({ maxBodyBytes, minBodyRate, bodyGraceMs }: BodyBounds): number {
  const ms = HEADERS_TIMEOUT_MS + 2 * bodyGraceMs + Math.ceil((maxBodyBytes / minBodyRate) * 1000)
  return Number.isFinite(ms) ? Math.min(ms, MAX_TIMEOUT_MS) : 0
}

/** The endpoint, and beside it the two of the oldest revision. */
function isServed(url: string, path: string, hasLegacy: boolean): boolean {
  // What is neither a path nor a URL is the guard's to judge; so is the name in a URL.
  if (!url.startsWith('/') && !/^https?:\/\//i.test(url)) return true
  const asked = pathOf(url)
  if (asked === path || asked === `${path}/`) return true
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  return hasLegacy && (asked === `${folder}sse` || asked === `${folder}messages`)
}

function refusePath({ path, legacySse }: ListenOptions & { path: string }): void {
  if (!path.startsWith('/')) throw new McpError('ERR_DEFINITION', `The path must begin with a slash: ${JSON.stringify(path)}`)
  if (legacySse !== false && path.endsWith('/messages')) {
    throw new McpError(
      'ERR_DEFINITION',
      `${path} is where clients of the oldest revision send to: choose another path, or legacySse: false`,
    )
  }
}

function refusePublic({ host, allowedHosts, auth, authenticate, dangerouslyAllowAnyHost }: ListenOptions & { host: string }): void {
  if (host === 'localhost' || isLoopbackAddress(host) || allowedHosts || auth || authenticate || dangerouslyAllowAnyHost) return
  throw new McpError(
    'ERR_DEFINITION',
    `Listening at ${host} makes the server public: name the hosts it is called by (allowedHosts) or have callers authenticate (auth)`,
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
      // A connection that could not be taken is lost; those that are open, and the process, are not.
      server.on('error', (error) => console.error('portico: the HTTP server failed to take a connection:', error))
      resolve()
    })
  })

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** All servers of this process that end with it: it ends when the last of them has. */
const following = new Set<Ending>()
let isSignalled = false

function onSignal(): void {
  // Asked twice: no more waiting.
  if (isSignalled) process.exit(0)
  isSignalled = true
  void Promise.all([...following].map((ending) => ending.close())).then(() => process.exit(0))
}

/** The way out: no new connections, answers to what came, clean ends for what waits, then the rest is cut. */
class Ending {
  readonly closed: Promise<void>
  readonly #server: HttpServer
  readonly #handler: HttpHandler
  readonly #graceMs: number
  #settle: () => void = () => {}
  #isEnding = false

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
    if (this.#isEnding) return this.closed
    this.#isEnding = true
    await this.#handler.drain(this.#graceMs)
    const over = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#handler.close()
    this.#server.closeIdleConnections()
    // The last bytes of what was answered may still be on their way out.
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 500).unref())])
    this.#server.closeAllConnections()
    if (following.delete(this) && following.size === 0) for (const signal of SIGNALS) process.off(signal, onSignal)
    this.#settle()
  }
}
