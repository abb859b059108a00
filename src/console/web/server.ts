/** The HTTP server of a console: checks a request, finds its route, and writes the answer. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpError } from '../../host/index.ts'
import { checkOrigin, isFromElsewhere, originsOf } from '../access/guard.ts'
import type { Session, Sessions } from '../access/sessions.ts'
import { ApiError, errorReply, isUnexpected } from '../errors.ts'
import type { ConsoleLimits } from '../limits.ts'
import { readJson } from './body.ts'
import { limitConnections } from './connections.ts'
import type { EventStreams } from './event-streams.ts'
import { DATA_HEADERS, pageHeaders, secretsIn } from './headers.ts'
import { checkInput, findRoute, type Route, readQuery } from './router.ts'
import type { StaticFiles } from './static-files.ts'

export interface WebServerOptions {
  /** The first free one is used. */
  ports: readonly number[]
  limits: ConsoleLimits
  routes: readonly Route[]
  sessions: Sessions
  streams: EventStreams
  files: StaticFiles
  /** The port of the views of tools. */
  viewPort: number
  onError(error: unknown): void
}

export interface WebServer {
  port: number
  close(): Promise<void>
}

/** The stream is a route for the documentation and for the list in the 404. It answers without JSON. */
const EVENTS: Route = {
  name: 'GET /api/events',
  method: 'GET',
  segments: ['', 'api', 'events'],
  status: 200,
  isOpen: false,
  query: { type: 'object', properties: {}, additionalProperties: false },
  body: { type: 'object', properties: {}, additionalProperties: false },
  run: () => undefined,
}

/** How long the headers of a request, and the whole request, may take. */
const HEADERS_MS = 10_000
const REQUEST_MS = 60_000
/** Programs at other ports of this computer can set cookies that a browser sends here, too. */
const MAX_HEADER_BYTES = 64 * 1024

/** Resolves when the server accepts requests. */
export async function startServer(options: WebServerOptions): Promise<WebServer> {
  let port = 0
  const server = createServer(
    { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false },
    (request, response) => void answer(options, port, request, response),
  )
  limitConnections(server, options.limits.maxConnections)
  await listening(server, options.ports)
  port = (server.address() as AddressInfo).port
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function listening(server: Server, ports: readonly number[]): Promise<void> {
  for (const [i, port] of ports.entries()) {
    try {
      return await listenAt(server, port)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || i === ports.length - 1) throw error
    }
  }
}

async function listenAt(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

/** Never rejects. */
async function answer(options: WebServerOptions, port: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    // The text after the address of the console is all that counts. A whole URL in the request line is not ours.
    const url = new URL(`http://console${request.url?.startsWith('/') ? request.url : '/'}`)
    const isApi = url.pathname === '/api' || url.pathname.startsWith('/api/')
    checkOrigin(request.headers, originsOf(port), isApi)
    if (isApi) await answerApi(options, port, url, request, response)
    else await answerFile(options, url, request, response)
  } catch (error) {
    if (isUnexpected(error)) options.onError(error)
    const { status, body, headers } = errorReply(error)
    if (response.headersSent) return void response.destroy()
    sendJson(response, status, body, headers)
  }
}

async function answerApi(
  options: WebServerOptions,
  port: number,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { limits, routes, sessions, streams } = options
  const { route, params } = findRoute([EVENTS, ...routes], request.method ?? '', url.pathname)
  const { cookies, token } = secretsIn(request.headers, port)
  const session: Session | undefined = route.isOpen ? undefined : sessions.check(cookies, token)
  const query = readQuery(route.query, url.searchParams)
  await checkInput('query', route.query, query)
  if (route === EVENTS) return streams.open(response, session as Session, headerText(request, 'last-event-id'))
  const body = await readJson(request, limits.maxBodyBytes)
  await checkInput('body', route.body, body)
  const headers: Record<string, string> = {}
  const gone = new AbortController()
  const onClose = (): void => gone.abort(new McpError('ERR_CLOSED', 'The page closed the connection'))
  response.once('close', onClose)
  const result = await route.run({ params, query, body, session, cookies, headers, signal: gone.signal } as Parameters<Route['run']>[0])
  response.off('close', onClose)
  sendJson(response, route.status, result ?? null, headers)
}

async function answerFile(
  { files, viewPort }: WebServerOptions,
  url: URL,
  { method, headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD')
    throw new ApiError(405, 'ERR_METHOD', `Expected GET or HEAD, got ${method}`, { headers: { allow: 'GET, HEAD' } })
  const file = await files.find(url.pathname, isFromElsewhere(headers))
  if (!file) throw new ApiError(404, 'ERR_NOT_FOUND', `There is no file ${url.pathname}`)
  const gzip = acceptsGzip(headers['accept-encoding'] as string | undefined) ? file.gzip : undefined
  const bytes = gzip ?? file.bytes
  const encoding = { ...(file.gzip && { vary: 'accept-encoding' }), ...(gzip && { 'content-encoding': 'gzip' }) }
  response.writeHead(200, { ...pageHeaders(originsOf(viewPort)), ...encoding, 'content-type': file.type, 'content-length': bytes.length })
  response.end(method === 'HEAD' ? undefined : bytes)
}

const acceptsGzip = (accepted = ''): boolean =>
  accepted.split(',').some((each) => /^\s*gzip\s*(?:;|$)/.test(each) && !/q=0(?:\.0*)?\s*$/.test(each))

function sendJson(response: ServerResponse, status: number, value: unknown, headers: Readonly<Record<string, string>>): void {
  if (response.destroyed) return
  const bytes = Buffer.from(JSON.stringify(value))
  response.writeHead(status, { ...DATA_HEADERS, ...headers, 'content-type': 'application/json', 'content-length': bytes.length })
  response.end(bytes)
}

function headerText({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
