/** Whatever clients do with their connections, in whatever order: everything they held is given back. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  callTool,
  type HttpSession,
  initializeMessage,
  LISTEN,
  modern,
  openSession,
  serve,
  testServer,
  until,
  WATCHED,
} from '../../support/http-service.ts'
import { counted, proofRuns } from '../../support/proof.ts'
import { rawRequest } from '../../support/raw-request.ts'

const RUNS = proofRuns(12)
const MAX_CONNECTIONS = 48

const EVENTS = { accept: 'text/event-stream' }

/** Every kind of request that holds something. */
const KINDS = {
  listen: () => rawRequest(modern(LISTEN)),
  call: () => rawRequest(modern(callTool('forever'))),
  talk: () => rawRequest(modern(callTool('forever', {}, WATCHED))),
  quick: () => rawRequest(modern(callTool('hi'))),
  jsonOnly: () => rawRequest(modern(callTool('forever'), { accept: 'application/json' })),
  initialize: () => rawRequest({ body: initializeMessage('2025-11-25') }),
  initializeAsEvent: () => rawRequest({ headers: EVENTS, body: initializeMessage('2025-03-26') }),
  get: ({ headers }) => rawRequest({ method: 'GET', headers: { ...headers, ...EVENTS } }),
  sessionCall: ({ headers }, id) => rawRequest({ headers, body: { jsonrpc: '2.0', id, ...callTool('hold') } }),
  sessionTalk: ({ headers }, id) => rawRequest({ headers, body: { jsonrpc: '2.0', id, ...callTool('talk', {}, WATCHED) } }),
  sessionRelease: ({ headers }, id) => rawRequest({ headers, body: { jsonrpc: '2.0', id, ...callTool('release') } }),
  sessionEvent: ({ headers }, id) => rawRequest({ headers: { ...headers, ...EVENTS }, body: { jsonrpc: '2.0', id, ...callTool('hi') } }),
  cancel: ({ headers }, id) =>
    rawRequest({ headers, body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id - 1 } } }),
  delete: ({ headers }) => rawRequest({ method: 'DELETE', headers }),
  legacy: () => rawRequest({ method: 'GET', path: '/sse', headers: EVENTS }),
  elsewhere: () => rawRequest({ path: '/nothing-here', body: {} }),
  nonsense: () => 'NONSENSE\r\n\r\n',
} satisfies Record<string, (session: HttpSession, id: number) => string>

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ send: fc.constantFrom(...(Object.keys(KINDS) as (keyof typeof KINDS)[])), session: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ pauseMs: fc.nat(30) }) },
)
const connection = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  /** How much of what is to be sent in the end is left out. */
  cutOff: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(400)),
  end: fc.constantFrom('destroy', 'reset', 'half-close', 'stay'),
  reads: fc.boolean(),
  address: fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2'),
})
type Plan = typeof connection extends fc.Arbitrary<infer P> ? P : never

test(
  'every counter returns to zero, for random sequences of connections',
  async () => {
    const server = testServer()
    let running = 0
    const whileRunning = async (signal: AbortSignal, ms: number): Promise<string> => {
      running++
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        const onAbort = (): void => {
          clearTimeout(timer)
          resolve()
        }
        if (signal.aborted) onAbort()
        else signal.addEventListener('abort', onAbort)
      })
      running--
      return 'x'.repeat(200)
    }
    // Closing the connection ends a call that stands alone; nothing else does.
    server.tool('forever', {}, async (_args, ctx) => {
      await ctx.progress(1)
      return whileRunning(ctx.signal, 600_000)
    })
    server.tool('hold', {}, (_args, ctx) => whileRunning(ctx.signal, 60))
    server.tool('talk', {}, async (_args, ctx) => {
      for (let i = 1; i <= 5; i++) await ctx.progress(i, 5, 'x'.repeat(100))
      return whileRunning(ctx.signal, 60)
    })
    server.tool('release', {}, (_args, ctx) => {
      ctx.release()
      return whileRunning(ctx.signal, 60)
    })
    const limits = {
      // Long: what is given back must not wait until a reader counts as stalled.
      stallMs: 600_000,
      keepAliveMs: 50,
      streamAfterMs: 30,
      sessionIdleMs: 150,
      eventTtlMs: 100,
      bodyGraceMs: 200,
      maxKeptBytes: 6_000,
      maxKeptBytesPerSession: 3_000,
      maxSessionsPerAddress: 6,
      maxInFlightPerAddress: 8,
      maxAbandoned: 4,
      maxStreamsPerAddress: 6,
      pingMs: 100,
    }
    const { url, port, handler } = await serve(server, { trustProxy: true, maxConnectionsPerAddress: MAX_CONNECTIONS, limits })

    let id = 0
    const run = async (plan: Plan, sessions: HttpSession[]): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      if (plan.reads) socket.resume()
      else socket.on('end', () => {})
      let text = ''
      for (const each of plan.steps) {
        if ('pauseMs' in each) {
          socket.write(text)
          text = ''
          await new Promise((resolve) => setTimeout(resolve, each.pauseMs))
        } else {
          const request = KINDS[each.send](sessions[each.session] as HttpSession, ++id)
          text += request.replace('\r\n', `\r\nX-Forwarded-For: ${plan.address}\r\n`)
        }
      }
      socket.write(text.slice(0, Math.max(0, text.length - plan.cutOff)))
      // Some of it must have arrived, or there is nothing to give back.
      await new Promise((resolve) => setTimeout(resolve, 10))
      if (plan.end === 'destroy') socket.destroy()
      else if (plan.end === 'reset') socket.resetAndDestroy()
      else if (plan.end === 'half-close') socket.end()
      return socket
    }

    const most = { inFlight: 0, streams: 0, sessions: 0, abandoned: 0, keptBytes: 0 }
    const watch = setInterval(() => {
      for (const key of Object.keys(most) as (keyof typeof most)[]) most[key] = Math.max(most[key], handler.counts[key])
    }, 1)
    await fc.assert(
      fc.asyncProperty(fc.array(connection, { minLength: 1, maxLength: 10 }), async (plans) => {
        const sessions = [await openSession(url, '2025-03-26'), await openSession(url, '2025-06-18'), await openSession(url, '2025-11-25')]
        const sockets = await Promise.all(plans.map((plan) => run(plan, sessions)))
        for (const socket of sockets) socket.destroy()
        await until(() => running === 0 && Object.values(handler.counts).every((count) => count === 0), 20_000).catch(() => {})
        expect({ running, ...handler.counts }).toEqual({
          running: 0,
          inFlight: 0,
          tasks: 0,
          abandoned: 0,
          streams: 0,
          sessions: 0,
          legacySessions: 0,
          callers: 0,
          bodyBytes: 0,
          keptBytes: 0,
        })
        counted({ 'sequences after which every counter is zero': 1, connections: plans.length })
      }),
      { numRuns: RUNS, endOnFailure: true },
    )
    clearInterval(watch)
    // Otherwise nothing was ever held that could be given back.
    for (const [key, value] of Object.entries(most)) expect(value, key).toBeGreaterThan(0)

    // Connections are counted where nobody can look: there is room for all that there was room for before.
    const sockets = Array.from({ length: MAX_CONNECTIONS }, () => connect(port, '127.0.0.1').on('error', () => {}))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    for (const socket of sockets) socket.write(rawRequest(modern(callTool('hi'), { 'x-forwarded-for': '192.0.2.3' })))
    await Promise.all(sockets.map((socket) => once(socket, 'data')))
    for (const socket of sockets) socket.destroy()
  },
  60_000 + RUNS * 25_000,
)
