/** A server at a port for the length of a test, and the two ways of speaking to it: standing alone, and in a session. */

import { createServer as createHttpServer } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { onTestFinished } from 'vitest'
import type { Listening, ListenOptions } from '../../src/http/index.ts'
import { Endpoint } from '../../src/http/server/endpoint.ts'
import { type AllHttpLimits, FIXED_HTTP_LIMITS, type FixedHttpLimits } from '../../src/http/server/fixed-limits.ts'
import { listenWith } from '../../src/http/server/listen.ts'
import type { HttpLimits, HttpOptions } from '../../src/http/server/options.ts'
import { NodeRequestReply } from '../../src/http/server/runtime/node.ts'
import { createServer, type Server, type ServerOptions } from '../../src/server/index.ts'
import { type FakeClock, fakeClock } from '../../src/testing/index.ts'
import { type EventReader, type HttpAnswer, type HttpCall, http, httpStream, portOf } from './http-requests.ts'
import { envelope, type Message } from './raw-channel.ts'

export { until } from './until.ts'

export const MODERN = '2026-07-28'
export const STREAMABLE = ['2025-03-26', '2025-06-18', '2025-11-25'] as const

/** A server with a tool that answers at once, and no limit that a test does not mean to meet. */
export function testServer(options: Partial<ServerOptions> = {}): Server {
  const limits = { toolCalls: false, progressNotices: false, logMessages: false, ...options.limits } as const
  const server = createServer({ name: 'test', version: '1', onError: () => {}, ...options, limits })
  server.tool('hi', {}, () => 'hi')
  return server
}

/** A server with a tool `hold` that answers `held` when `go` is opened. `begun` is open once it was called. */
export function holdingServer(): { server: Server; begun: Gate; go: Gate } {
  const [server, begun, go] = [testServer(), gate(), gate()]
  server.tool('hold', {}, async () => {
    begun.open()
    await go.opened
    return 'held'
  })
  return { server, begun, go }
}

/** A server with a tool `work` that reports progress once and then runs until its call is aborted. */
export function workingServer(): { server: Server; begun: Gate; aborted: Gate } {
  const [server, begun, aborted] = [testServer(), gate(), gate()]
  server.tool('work', {}, async (_args, ctx) => {
    await ctx.progress(1)
    begun.open()
    await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
    aborted.open()
    return 'x'
  })
  return { server, begun, aborted }
}

/** Options whose limits may also name fixed limits, which a test makes small. */
export type TestHttpOptions<Options extends HttpOptions = HttpOptions> = Omit<Options, 'limits'> & { limits?: Partial<AllHttpLimits> }

/** The fixed limits among `limits`, over their real values. */
export function fixedLimits(limits: Partial<AllHttpLimits> = {}): FixedHttpLimits {
  const given = Object.entries(limits).filter(([name]) => name in FIXED_HTTP_LIMITS)
  return { ...FIXED_HTTP_LIMITS, ...Object.fromEntries(given) }
}

/** The limits that a program can set: `limits` without the fixed ones. */
export const ownLimits = (limits: Partial<AllHttpLimits> = {}): Partial<HttpLimits> =>
  Object.fromEntries(Object.entries(limits).filter(([name]) => !(name in FIXED_HTTP_LIMITS)))

/** Listens until the test is over. */
export async function serve(server: Server, options: TestHttpOptions<ListenOptions> = {}): Promise<Listening> {
  // Many a test brings bad credentials on purpose.
  const limits = { failedLogins: false, ...options.limits } as const
  const listening = await listenWith(
    server,
    { handleSignals: false, graceMs: 0, ...options, limits: ownLimits(limits) },
    fixedLimits(limits),
  )
  onTestFinished(() => listening.close())
  return listening
}

/** The same with time that a test moves by hand: sockets are real, minutes are not. */
export async function serveInFakeTime(
  server: Server,
  options: TestHttpOptions = {},
  clock: FakeClock = fakeClock(),
): Promise<{ url: string; port: number; endpoint: Endpoint; pass: (ms: number) => Promise<void> }> {
  const endpoint = new Endpoint(server, { ...options, limits: ownLimits(options.limits) }, clock, fixedLimits(options.limits))
  const at = createHttpServer((request, response) => {
    const exchange = new NodeRequestReply(request, response, undefined, endpoint.limits.stallMs)
    endpoint.handle(exchange, exchange)
  })
  await new Promise<void>((resolve) => at.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    endpoint.close()
    at.closeAllConnections()
    at.close()
  })
  const port = portOf(at)
  // In small steps: what was written in one second must have left before the next, or its reader seems to be asleep.
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 1000) {
      await clock.advance(Math.min(left, 1000))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { url: `http://127.0.0.1:${port}/mcp`, port, endpoint, pass }
}

/** A `subscriptions/listen` request for changes of the tool list. */
export const LISTEN: Asked = { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } }

export interface Asked {
  method: string
  params?: Message
  id?: string | number
}

/** Takes proof of who is calling from a header: what a token would be. */
export const byHeader: NonNullable<ListenOptions['authenticate']> = (request) => {
  const principal = request.header('x-user')
  return principal === undefined ? { status: 401, message: 'Who are you?', headers: { 'www-authenticate': 'Test' } } : { principal }
}

/** The call for a request that stands alone. */
export function modern({ method, params = {}, id = 1 }: Asked, headers: Record<string, string> = {}): HttpCall {
  const { name, uri } = params
  const mirrors: Record<string, string> = { 'mcp-protocol-version': MODERN, 'mcp-method': method }
  if (typeof (name ?? uri) === 'string') mirrors['mcp-name'] = (name ?? uri) as string
  const _meta = { ...envelope(), ...(params._meta as Message | undefined) }
  return { headers: { ...mirrors, ...headers }, body: { jsonrpc: '2.0', id, method, params: { ...params, _meta } } }
}

export const callTool = (name: string, args: Message = {}, more: Message = {}): Asked => ({
  method: 'tools/call',
  params: { name, arguments: args, ...more },
})

/** Asks for progress, so that the tool has somebody to tell. */
export const WATCHED = { _meta: { progressToken: 'p' } }

export const askModern = (url: string, asked: Asked, headers?: Record<string, string>): Promise<HttpAnswer> =>
  http(url, modern(asked, headers))

export interface HttpSession {
  id: string
  url: string
  headers: Record<string, string>
  /** Sends any message, or text. */
  post(body: unknown, headers?: Record<string, string>): Promise<HttpAnswer>
  ask(asked: Asked, headers?: Record<string, string>): Promise<HttpAnswer>
  askStream(asked: Asked, headers?: Record<string, string>): Promise<EventReader>
  listen(lastEventId?: string): Promise<EventReader>
  end(): Promise<HttpAnswer>
}

/** What a store calls the session: its id without the code. */
export const storedName = ({ id }: HttpSession): string => id.slice(0, id.lastIndexOf('.'))

/** What a client says to open a session. */
export const initializeMessage = (revision: string, capabilities: Message = {}): Message => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: revision, capabilities, clientInfo: { name: 'raw', version: '1' } },
})

/** An open session at an address. */
export function sessionAt(url: string, id: string, headers: Record<string, string>): HttpSession {
  const toCall = ({ method, params, id: requestId = 1 }: Asked, more: Record<string, string> = {}): HttpCall => ({
    headers: { ...headers, ...more },
    body: { jsonrpc: '2.0', id: requestId, method, ...(params === undefined ? {} : { params }) },
  })
  return {
    id,
    url,
    headers,
    post: (body, more = {}) => http(url, { headers: { ...headers, ...more }, body }),
    ask: (asked, more) => http(url, toCall(asked, more)),
    askStream: (asked, more) => httpStream(url, toCall(asked, more)),
    listen: (lastEventId) =>
      httpStream(url, {
        method: 'GET',
        isBare: true,
        headers: { ...headers, accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
      }),
    end: () => http(url, { method: 'DELETE', headers, isBare: true }),
  }
}

/** Opens a session. */
export async function openSession(
  url: string,
  revision: string,
  options: { capabilities?: Message; headers?: Record<string, string> } = {},
): Promise<HttpSession> {
  const answer = await http(url, {
    body: initializeMessage(revision, options.capabilities),
    ...(options.headers ? { headers: options.headers } : {}),
  })
  if (answer.status !== 200) throw new Error(`No session: ${answer.status} ${answer.text}`)
  const id = String(answer.headers['mcp-session-id'])
  const headers = { ...options.headers, 'mcp-session-id': id, 'mcp-protocol-version': revision }
  const session = sessionAt(url, id, headers)
  const ready = await session.post({ jsonrpc: '2.0', method: 'notifications/initialized' })
  if (ready.status !== 202) throw new Error(`Not initialized: ${ready.status} ${ready.text}`)
  return session
}

/** Something to wait for from outside: a handler that has begun, or may go on. */
export interface Gate<T = void> {
  open(value: T): void
  opened: Promise<T>
}

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {}
  const opened = new Promise<T>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** Calls again and again, as somebody who has nothing to do with what else goes on; how long it took in the middle. */
export function bystander(url: string): { medianMs: () => Promise<number> } {
  const times: number[] = []
  let isOver = false
  const calling = (async () => {
    while (!isOver || times.length === 0) {
      const askedAt = performance.now()
      const { status } = await askModern(url, callTool('hi'))
      if (status !== 200) throw new Error(`A bystander was answered ${status}`)
      times.push(performance.now() - askedAt)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  const medianMs = async (): Promise<number> => {
    isOver = true
    await calling
    return times.sort((a, b) => a - b)[times.length >> 1] as number
  }
  return { medianMs }
}

/** Collects everything that nobody holds. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let i = 0; i < 3; i++) collect()
}
