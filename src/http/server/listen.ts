/** Serves at a port of this machine. */

import cluster from 'node:cluster'
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer, type ServerOptions as HttpsOptions } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { isOperation } from '../../base/address/endpoint-path.ts'
import { MAX_TIMER_MS } from '../../base/clock.ts'
import { reportError } from '../../base/report-error.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Service } from '../../protocol/interfaces/service.ts'
import { FIXED_HTTP_LIMITS, type FixedHttpLimits } from './fixed-limits.ts'
import { createHandler } from './handler.ts'
import { addressKey } from './limits/client-address.ts'
import type { Listening, ListenOptions } from './listen-options.ts'
import { checkListenOptions, settingsOf, urlOf } from './listen-settings.ts'
import { type HttpOptions, httpLimits, warnWithoutKeys } from './options.ts'
import { pathOf } from './request-path.ts'
import type { BodyBounds } from './runtime/request-reply.ts'
import { followSignals, Shutdown } from './shutdown.ts'

/** How long the head of a request may take. */
const HEADERS_TIMEOUT_MS = 10_000
const SWEEP_MS = 5_000
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
  checkListenOptions(options)
  // Its primary process has said it.
  if (!cluster.isWorker) warnWithoutKeys(service, options)
  // A server whose store can never work would only say so again and again.
  await options.store?.prepare?.()
  return listenWith(service, options, FIXED_HTTP_LIMITS)
}

/** The same with other fixed limits, for tests. */
export async function listenWith(service: Service, options: ListenOptions, fixed: FixedHttpLimits): Promise<Listening> {
  if (options.workers === undefined) return serveHere(service, options, fixed)
  const { listenWithWorkers } = await import('./workers/listen-with-workers.ts')
  return listenWithWorkers(service, options, (changed) => serveHere(service, changed, fixed))
}

/** Serves in this process. */
async function serveHere(service: Service, options: ListenOptions, fixed: FixedHttpLimits): Promise<Listening> {
  const settings = settingsOf(options)
  const handler = createHandler(service, options, fixed)
  const { path } = settings
  const limits = { ...httpLimits(options.limits), ...fixed }
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const url = request.url as string
    const isOurs = isServed(url, path, options.legacySse !== false) || isOperation(pathOf(url), options)
    if (isOurs || isDocument(options, pathOf(url))) return handler.node(request, response)
    handler.refusePath(request, response, path)
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
    ? httpsServer({ ...serverOptions, ...settings.tls, minVersion: 'TLSv1.2' }, onRequest)
    : createHttpServer(serverOptions, onRequest)
  // A client may close its side of the connection and still wait for the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  // A connection that Node refuses in a worker is handed to the next worker, and so on without end if none has room.
  if (cluster.isWorker) limitInWorker(server, settings.maxConnections)
  else server.maxConnections = settings.maxConnections
  if (settings.maxConnectionsPerAddress !== false) limitPerAddress(server, settings.maxConnectionsPerAddress)
  await start(server, settings.port ?? 0, settings.host)
  const address = server.address() as AddressInfo
  const shutdown = new Shutdown(server, handler, settings)
  if (options.handleSignals !== false) followSignals(shutdown)
  return {
    url: urlOf(address, settings),
    port: address.port,
    handler,
    worker: undefined,
    closed: shutdown.closed,
    close: () => shutdown.close(),
  }
}

function httpsServer(options: HttpsOptions, onRequest: RequestListener): HttpServer {
  try {
    return createHttpsServer(options, onRequest)
  } catch (cause) {
    // OpenSSL says what is wrong, but not with which option. It shows no secret.
    throw new McpError('ERR_DEFINITION', `tls.cert and tls.key cannot be used: ${(cause as Error).message}`, { cause })
  }
}

/**
 * The time limit that Node applies to a whole request: the time for the largest body at `minBodyRate`. It covers requests
 * whose body is never read. Other requests are checked while their body is read.
 */
export function requestTimeoutOf({ maxBodyBytes, minBodyRate, bodyGraceMs }: BodyBounds): number {
  const ms = HEADERS_TIMEOUT_MS + 2 * bodyGraceMs + Math.ceil((maxBodyBytes / minBodyRate) * 1000)
  return Number.isFinite(ms) ? Math.min(ms, MAX_TIMER_MS) : 0
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

function limitInWorker(server: HttpServer, max: number): void {
  let count = 0
  server.on('connection', (socket: Socket) => {
    if (count >= max) return socket.destroy()
    count++
    socket.once('close', () => count--)
    return undefined
  })
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
      server.on('error', (error) => reportError('portico: the HTTP server could not accept a connection:', error))
      resolve()
    })
  })

/** Whether a public document is at this path, beside the endpoint. */
const isDocument = ({ auth, card }: HttpOptions, path: string): boolean =>
  (auth?.document('GET', path) ?? card?.document('GET', path, { header: () => undefined })) !== undefined
