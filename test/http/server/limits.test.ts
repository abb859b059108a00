import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import type { ListenOptions } from '../../../src/http/index.ts'
import { FIXED_HTTP_LIMITS } from '../../../src/http/server/fixed-limits.ts'
import { DEFAULT_READ_BOUNDS } from '../../../src/jsonrpc/read.ts'
import { scan } from '../../../src/jsonrpc/scan.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { type EventReader, type HttpAnswer, http, httpStream, rawHttp } from '../../support/http-requests.ts'
import {
  askModern,
  byHeader,
  callTool,
  holdingServer,
  initializeMessage,
  LISTEN,
  modern,
  openSession,
  serve,
  serveInFakeTime,
  type TestHttpOptions,
  testServer,
  until,
  WATCHED,
} from '../../support/http-service.ts'
import type { Message } from '../../support/raw-channel.ts'
import { rawRequest } from '../../support/raw-request.ts'

/** Serves a tool that waits, and records refusals. */
async function holding(options: TestHttpOptions<ListenOptions>) {
  const { server, go } = holdingServer()
  const onRefused = vi.fn()
  return { server, go, onRefused, ...(await serve(server, { onRefused, ...options })) }
}

/** What being refused for a limit looks like. */
function expectFull(answer: { status: number; headers: Message; message: Message }, status: number, limit: string, max: number): void {
  expect(answer.status).toBe(status)
  expect(answer.headers['retry-after']).toBe(status === 429 ? '1' : '5')
  expect(answer.message.error).toMatchObject({
    code: -32603,
    message: expect.stringContaining(`at most ${max}${limit in FIXED_HTTP_LIMITS ? '' : ` (limits.${limit})`}`),
    data: { reason: 'limit', limit, max },
  })
}

const asUser = (user: string) => ({ 'x-user': user })
const whole = async (stream: EventReader) => ({ status: stream.status, headers: stream.headers, message: await stream.whole() })

describe('requests at the same time', () => {
  test('running requests of the process: maxInFlight, else 503', async () => {
    const { url, go, handler, onRefused } = await holding({ limits: { maxInFlight: 3 } })
    const session = await openSession(url, '2025-11-25')
    const held = [askModern(url, callTool('hold')), session.ask(callTool('hold'))]
    await until(() => handler.counts.inFlight === 2)
    held.push(askModern(url, callTool('hold')))
    await until(() => handler.counts.inFlight === 3)
    expectFull(await askModern(url, callTool('hi')), 503, 'maxInFlight', 3)
    expectFull(await session.ask({ ...callTool('hi'), id: 2 }), 503, 'maxInFlight', 3)
    expectFull(await http(url, { body: initializeMessage('2025-11-25') }), 503, 'maxInFlight', 3)
    expect(onRefused).toHaveBeenCalledWith({
      status: 503,
      kind: 'limit',
      reason: expect.stringContaining('maxInFlight'),
      httpMethod: 'POST',
      path: '/mcp',
      limit: 'maxInFlight',
      address: '127.0.0.1',
    })
    // What wants no answer is taken all the same: it may be what a call in hand waits for.
    expect((await session.post({ jsonrpc: '2.0', method: 'notifications/x' })).status).toBe(202)
    go.open()
    for (const answer of held) expect((await answer).message.result?.content[0].text).toBe('held')
    expect((await askModern(url, callTool('hi'))).status).toBe(200)
    expect(handler.counts.inFlight).toBe(0)
  })

  test('running requests of one principal: maxInFlightPerPrincipal, else 429; others are not affected', async () => {
    const { url, go, handler } = await holding({ authenticate: byHeader, limits: { maxInFlightPerPrincipal: 2 } })
    const held = [askModern(url, callTool('hold'), asUser('a')), askModern(url, callTool('hold'), asUser('a'))]
    await until(() => handler.counts.inFlight === 2)
    expectFull(await askModern(url, { ...callTool('hi'), id: 'x' }, asUser('a')), 429, 'maxInFlightPerPrincipal', 2)
    expect((await askModern(url, callTool('hi'), asUser('b'))).status).toBe(200)
    go.open()
    await Promise.all(held)
    expect((await askModern(url, callTool('hi'), asUser('a'))).status).toBe(200)
  })

  test('running requests of one address: maxInFlightPerAddress, else 429; others are not affected', async () => {
    const { url, go, handler } = await holding({ trustProxy: true, limits: { maxInFlightPerAddress: 2 } })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const session = await openSession(url, '2025-11-25', { headers: from('192.0.2.1') })
    const held = [askModern(url, callTool('hold'), from('192.0.2.1')), session.ask(callTool('hold'))]
    await until(() => handler.counts.inFlight === 2)
    expectFull(await askModern(url, callTool('hi'), from('192.0.2.1')), 429, 'maxInFlightPerAddress', 2)
    expectFull(await session.ask({ ...callTool('hi'), id: 2 }), 429, 'maxInFlightPerAddress', 2)
    // A session belongs to the address that opened it, whoever uses it.
    expectFull(await session.ask({ ...callTool('hi'), id: 2 }, from('192.0.2.2')), 429, 'maxInFlightPerAddress', 2)
    expect((await askModern(url, callTool('hi'), from('192.0.2.2'))).status).toBe(200)
    go.open()
    for (const answer of held) expect((await answer).status).toBe(200)
    expect((await askModern(url, callTool('hi'), from('192.0.2.1'))).status).toBe(200)
  })

  test('abandoned requests of one address: maxAbandoned, else 429, until they end', async () => {
    const { server, url, go, handler } = await holding({ trustProxy: true, limits: { maxAbandoned: 2 } })
    server.tool('talk', {}, async (_args, ctx) => {
      await ctx.progress(1)
      await go.opened
      return 'talked'
    })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const open = (address: string) => openSession(url, '2025-11-25', { headers: from(address) })
    const [session, again, other] = [await open('192.0.2.1'), await open('192.0.2.1'), await open('192.0.2.2')]
    // One leaves before there is anything to read, one in the middle of a stream.
    const silent = new AbortController()
    const gone = fetch(url, {
      method: 'POST',
      headers: { ...session.headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...callTool('hold') }),
      signal: silent.signal,
    }).catch(() => 'aborted')
    await until(() => handler.counts.inFlight === 1)
    silent.abort()
    expect(await gone).toBe('aborted')
    const stream = await session.askStream({ ...callTool('talk', {}, WATCHED), id: 2 })
    await stream.message()
    const { id: lastEventId } = stream.events.at(-1) ?? {}
    stream.destroy()
    await until(() => handler.counts.abandoned === 2)
    expectFull(await session.ask({ ...callTool('hi'), id: 3 }), 429, 'maxAbandoned', 2)
    expectFull(await again.ask(callTool('hi')), 429, 'maxAbandoned', 2)
    expectFull(await askModern(url, callTool('hi'), from('192.0.2.1')), 429, 'maxAbandoned', 2)
    expect((await other.ask(callTool('hi'))).status).toBe(200)
    // Whoever comes back for an answer has not given it up.
    const resumed = await session.listen(lastEventId)
    expect(handler.counts.abandoned).toBe(1)
    expect((await again.ask(callTool('hi'))).status).toBe(200)
    go.open()
    expect((await resumed.message()).result?.content[0].text).toBe('talked')
    await until(() => handler.counts.inFlight === 0)
    expect(handler.counts.abandoned).toBe(0)
  })

  test('a handler that does not stop when its client has gone counts until it ends: maxAbandoned', async () => {
    const { server, url, go, handler } = await holding({ trustProxy: true, limits: { maxAbandoned: 2 } })
    const running = vi.fn()
    server.tool('deaf', {}, async () => {
      running()
      await go.opened
      return 'x'
    })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    for (let i = 1; i <= 2; i++) {
      const raw = rawHttp(Number(new URL(url).port), rawRequest(modern(callTool('deaf'), from('192.0.2.1'))))
      await until(() => running.mock.calls.length === i)
      raw.destroy()
      await until(() => handler.counts.abandoned === i)
    }
    expect(handler.counts.inFlight).toBe(0)
    expectFull(await askModern(url, callTool('hi'), from('192.0.2.1')), 429, 'maxAbandoned', 2)
    expect((await askModern(url, callTool('hi'), from('192.0.2.2'))).status).toBe(200)
    go.open()
    await until(() => handler.counts.abandoned === 0)
    expect((await askModern(url, callTool('hi'), from('192.0.2.1'))).status).toBe(200)
  })

  test('an abandoned handler that stops, throws or times out no longer counts', async () => {
    const { server, url, handler } = await holding({})
    const running = vi.fn()
    const begin = (ctx: { signal: AbortSignal }): Promise<void> => {
      running()
      return new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
    }
    server.tool('stops', {}, async (_args, ctx) => {
      await begin(ctx)
      return 'x'
    })
    server.tool('throws', {}, async (_args, ctx) => {
      await begin(ctx)
      throw new Error('Stopped')
    })
    server.tool('never-ends', { timeoutMs: 100 }, () => {
      running()
      return new Promise<string>(() => {})
    })
    for (const [i, name] of ['stops', 'throws', 'never-ends'].entries()) {
      const raw = rawHttp(Number(new URL(url).port), rawRequest(modern(callTool(name))))
      await until(() => running.mock.calls.length === i + 1)
      raw.destroy()
      await until(() => handler.counts.inFlight === 0 && handler.counts.abandoned === 0)
    }
  })

  test('a call that the server released does not count as abandoned', async () => {
    const { server, url, go, handler } = await holding({})
    server.tool('long', {}, async (_args, ctx) => {
      ctx.release()
      await go.opened
      return 'done'
    })
    const session = await openSession(url, '2025-11-25')
    const stream = await session.askStream(callTool('long'))
    expect(await stream.ended).toBe('end')
    expect([handler.counts.inFlight, handler.counts.abandoned]).toEqual([1, 0])
    go.open()
    await until(() => handler.counts.inFlight === 0)
  })

  test('running requests of one session: maxInFlightPerSession, else 429; others are not affected', async () => {
    const { url, go, handler } = await holding({ limits: { maxInFlightPerSession: 2 } })
    const session = await openSession(url, '2025-11-25')
    const held = [1, 2].map((id) => session.ask({ ...callTool('hold'), id }))
    await until(() => handler.counts.inFlight === 2)
    const third = await session.ask({ ...callTool('hi'), id: 3 })
    expectFull(third, 429, 'maxInFlightPerSession', 2)
    expect(third.message.id).toBe(3)
    expect(handler.counts.inFlight).toBe(2)
    expect((await (await openSession(url, '2025-11-25')).ask(callTool('hi'))).status).toBe(200)
    go.open()
    await Promise.all(held)
    expect((await session.ask(callTool('hi'))).status).toBe(200)
  })

  test('running requests of one session of 2024-11-05: maxInFlightPerSession, else 429', async () => {
    const { url, go, handler } = await holding({ limits: { maxInFlightPerSession: 1 } })
    const stream = await httpStream(url.replace('/mcp', '/sse'), { method: 'GET' })
    const to = new URL(String((await stream.next())?.data), url).href
    await http(to, { body: initializeMessage('2024-11-05') })
    await stream.message()
    const send = (id: number) => http(to, { body: { jsonrpc: '2.0', id, ...callTool('hold') } })
    expect((await send(1)).status).toBe(202)
    await until(() => handler.counts.inFlight === 1)
    expectFull(await send(2), 429, 'maxInFlightPerSession', 1)
    go.open()
    await stream.message()
    expect((await send(3)).status).toBe(202)
  })
})

describe('sessions', () => {
  test('sessions of the process: maxSessions, else 503 when all of them are in use', async () => {
    const { url, go, handler } = await holding({ limits: { maxSessions: 2 } })
    const open = () => http(url, { body: initializeMessage('2025-11-25') })
    const first = await openSession(url, '2025-11-25')
    const second = await openSession(url, '2025-11-25')
    const stream = await first.listen()
    const held = second.ask(callTool('hold'))
    await until(() => handler.counts.inFlight === 1)
    expectFull(await open(), 503, 'maxSessions', 2)
    expect([handler.counts.sessions, handler.counts.inFlight]).toEqual([2, 1])
    await first.end()
    await stream.ended
    expect((await open()).status).toBe(200)
    go.open()
    expect((await held).status).toBe(200)
  })

  test.each(['maxSessions', 'maxSessionsPerAddress'] as const)(
    '%s: the session unused for longest makes room for a new one',
    async (limit) => {
      const clock = fakeClock()
      const { url, pass, endpoint } = await serveInFakeTime(testServer(), { limits: { [limit]: 3 } }, clock)
      const oldest = await openSession(url, '2025-11-25')
      const used = await openSession(url, '2025-11-25')
      await pass(2_000)
      const third = await openSession(url, '2025-11-25')
      await used.ask(callTool('hi'))
      await pass(2_000)
      const fourth = await openSession(url, '2025-11-25')
      expect(endpoint.counts.sessions).toBe(3)
      expect((await oldest.ask(callTool('hi'))).status).toBe(404)
      for (const session of [used, third, fourth]) expect((await session.ask(callTool('hi'))).status).toBe(200)
      // An open stream is a use, however long nothing was said on it.
      await used.listen()
      await third.listen()
      await pass(5_000)
      await openSession(url, '2025-11-25')
      expect((await fourth.ask(callTool('hi'))).status).toBe(404)
      expect((await used.ask(callTool('hi'))).status).toBe(200)
    },
  )

  test('sessions of one address: maxSessionsPerAddress, else 429 when all are in use', async () => {
    const { url } = await holding({ trustProxy: true, limits: { maxSessionsPerAddress: 2 } })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const open = (address: string) => http(url, { body: initializeMessage('2025-11-25'), headers: from(address) })
    for (let i = 0; i < 2; i++) await (await openSession(url, '2025-11-25', { headers: from('192.0.2.1') })).listen()
    expectFull(await open('192.0.2.1'), 429, 'maxSessionsPerAddress', 2)
    expect((await open('192.0.2.2')).status).toBe(200)
    const old = (address: string) => httpStream(url.replace('/mcp', '/sse'), { method: 'GET', headers: from(address) })
    for (let i = 0; i < 2; i++) expect((await old('192.0.2.1')).status).toBe(200)
    expectFull(await whole(await old('192.0.2.1')), 429, 'maxSessionsPerAddress', 2)
    expect((await old('192.0.2.2')).status).toBe(200)
  })

  test('at maxSessions the address with the most sessions loses one', async () => {
    const { url, handler } = await holding({ trustProxy: true, limits: { maxSessions: 4 } })
    const open = (address: string) => openSession(url, '2025-11-25', { headers: { 'x-forwarded-for': address } })
    const few = await open('192.0.2.1')
    const many = [await open('192.0.2.2'), await open('192.0.2.2'), await open('192.0.2.2')]
    const next = await open('192.0.2.3')
    expect(handler.counts.sessions).toBe(4)
    for (const session of [few, next]) expect((await session.ask(callTool('hi'))).status).toBe(200)
    const left = await Promise.all(many.map((session) => session.ask(callTool('hi'))))
    expect(left.map(({ status }) => status).sort()).toEqual([200, 200, 404])
  })

  test('sessions of one principal: maxSessionsPerPrincipal, else 429', async () => {
    const { url } = await holding({ authenticate: byHeader, limits: { maxSessionsPerPrincipal: 2 } })
    const open = (user: string) => http(url, { body: initializeMessage('2025-11-25'), headers: asUser(user) })
    const first = await openSession(url, '2025-11-25', { headers: asUser('a') })
    expect((await open('a')).status).toBe(200)
    expectFull(await open('a'), 429, 'maxSessionsPerPrincipal', 2)
    expect((await open('b')).status).toBe(200)
    await first.end()
    expect((await open('a')).status).toBe(200)
  })

  test('sessions in their handshake count too, unless it failed or its client is gone', async () => {
    const { server, url, go, handler } = await holding({ authenticate: byHeader, limits: { maxSessionsPerPrincipal: 2 } })
    server.use(async ({ method }, next) => {
      if (method === 'initialize') await go.opened
      return next()
    })
    const open = (body: unknown = initializeMessage('2025-11-25')) => http(url, { body, headers: asUser('a') })
    const opening = [open(), open({ ...initializeMessage('2025-11-25'), params: {} })]
    await until(() => handler.counts.inFlight === 2)
    expectFull(await open(), 429, 'maxSessionsPerPrincipal', 2)
    go.open()
    const [good, bad] = await Promise.all(opening)
    expect([good?.headers['mcp-session-id'], bad?.headers['mcp-session-id']]).toEqual([expect.any(String), undefined])
    expect(handler.counts.sessions).toBe(1)
  })

  test('a client that left during the handshake has no session', async () => {
    const { server, port, go, handler } = await holding({})
    server.use(async (_, next) => {
      await go.opened
      return next()
    })
    const body = JSON.stringify(initializeMessage('2025-11-25'))
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    const leaver = rawHttp(port, head + body)
    await until(() => handler.counts.inFlight === 1)
    leaver.socket.destroy()
    await leaver.closed
    await new Promise((resolve) => setTimeout(resolve, 50))
    go.open()
    await until(() => handler.counts.inFlight === 0)
    expect(handler.counts.sessions).toBe(0)
  })

  test('sessions of 2024-11-05: maxSessions and maxSessionsPerPrincipal apply', async () => {
    const { url, handler } = await holding({ authenticate: byHeader, limits: { maxSessions: 3, maxSessionsPerPrincipal: 2 } })
    const connectAs = (user: string) => httpStream(url.replace('/mcp', '/sse'), { method: 'GET', headers: asUser(user) })
    const streams = [await connectAs('a'), await connectAs('a')]
    expectFull(await whole(await connectAs('a')), 429, 'maxSessionsPerPrincipal', 2)
    streams.push(await connectAs('b'))
    expectFull(await whole(await connectAs('b')), 503, 'maxSessions', 3)
    streams[0]?.destroy()
    await until(() => handler.counts.streams === 2)
    expect((await connectAs('a')).status).toBe(200)
  })
})

describe('streams at the same time', () => {
  test('streams of one session: maxStreamsPerSession, else 429', async () => {
    const server = testServer()
    server.tool('talks', {}, async (_args, ctx) => {
      await ctx.progress(1)
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
      return 'x'
    })
    const { url } = await serve(server, { limits: { maxStreamsPerSession: 2 } })
    const session = await openSession(url, '2025-11-25')
    const streams = [await session.askStream({ ...callTool('talks', {}, WATCHED), id: 1 })]
    streams.push(await session.askStream({ ...callTool('talks', {}, WATCHED), id: 2 }))
    for (const stream of streams) await stream.message()
    expectFull(await whole(await session.listen()), 429, 'maxStreamsPerSession', 2)
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await streams[0]?.ended
    expect((await session.listen()).status).toBe(200)
  })

  test('stateless streams of one principal: maxListensPerPrincipal, else 429', async () => {
    const { url, handler } = await holding({ authenticate: byHeader, limits: { maxListensPerPrincipal: 2 } })
    const listenAs = (user: string) => httpStream(url, modern(LISTEN, asUser(user)))
    const streams = [await listenAs('a'), await listenAs('a')]
    expectFull(await whole(await listenAs('a')), 429, 'maxListensPerPrincipal', 2)
    expect((await listenAs('b')).status).toBe(200)
    streams[0]?.destroy()
    await until(() => handler.counts.streams === 2)
    expect((await listenAs('a')).status).toBe(200)
  })

  test('idle streams of one address: maxStreamsPerAddress, else 429; others are not affected', async () => {
    const { url, handler } = await holding({ trustProxy: true, limits: { maxStreamsPerAddress: 3 } })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const session = await openSession(url, '2025-11-25', { headers: from('192.0.2.1') })
    const old = (address: string) => httpStream(url.replace('/mcp', '/sse'), { method: 'GET', headers: from(address) })
    const open = [await session.listen(), await httpStream(url, modern(LISTEN, from('192.0.2.1'))), await old('192.0.2.1')]
    expect(handler.counts.streams).toBe(3)
    const second = await openSession(url, '2025-11-25', { headers: from('192.0.2.1') })
    expectFull(await whole(await second.listen()), 429, 'maxStreamsPerAddress', 3)
    expectFull(await askModern(url, LISTEN, from('192.0.2.1')), 429, 'maxStreamsPerAddress', 3)
    expectFull(await whole(await old('192.0.2.1')), 429, 'maxStreamsPerAddress', 3)
    expect((await old('192.0.2.2')).status).toBe(200)
    expect((await askModern(url, callTool('hi'), from('192.0.2.1'))).status).toBe(200)
    open[0]?.destroy()
    await until(() => handler.counts.streams === 3)
    expect((await second.listen()).status).toBe(200)
  })

  test('idle streams of the process: maxStreams, else 503', async () => {
    const { url, handler } = await holding({ limits: { maxStreams: 3 } })
    const session = await openSession(url, '2025-11-25')
    const open = [
      await session.listen(),
      await httpStream(url, modern(LISTEN)),
      await httpStream(url.replace('/mcp', '/sse'), { method: 'GET' }),
    ]
    expect(handler.counts.streams).toBe(3)
    const other = await openSession(url, '2025-11-25')
    expectFull(await whole(await other.listen()), 503, 'maxStreams', 3)
    expectFull(await askModern(url, LISTEN), 503, 'maxStreams', 3)
    expectFull(await http(url.replace('/mcp', '/sse'), { method: 'GET' }), 503, 'maxStreams', 3)
    expect((await askModern(url, callTool('hi'))).status).toBe(200)
    open[0]?.destroy()
    await until(() => handler.counts.streams === 2)
    expect((await other.listen()).status).toBe(200)
  })
})

describe('messages in hand', () => {
  const long = (length: number) => callTool('hold', {}, { x: 'x'.repeat(length) })
  const from = (address: string) => ({ 'x-forwarded-for': address })

  test('messages of one address take maxBodyBytesInHandPerAddress, else 429; others are not affected', async () => {
    const max = 20_000
    const { url, go, handler } = await holding({ trustProxy: true, limits: { maxBodyBytesInHandPerAddress: max } })
    const session = await openSession(url, '2025-11-25', { headers: from('192.0.2.1') })
    expect(handler.counts.bodyBytes).toBe(0)
    const held = [askModern(url, long(8000), from('192.0.2.1')), session.ask(long(8000))]
    await until(() => handler.counts.inFlight === 2)
    const left = max - handler.counts.bodyBytes
    expect(left).toBeLessThan(4000)
    expectFull(await askModern(url, long(4000), from('192.0.2.1')), 429, 'maxBodyBytesInHandPerAddress', max)
    expectFull(await session.ask({ ...long(4000), id: 2 }), 429, 'maxBodyBytesInHandPerAddress', max)
    // What wants no answer is taken all the same.
    expect((await session.post({ jsonrpc: '2.0', method: 'notifications/x', params: { x: 'x'.repeat(4000) } })).status).toBe(202)
    held.push(askModern(url, long(8000), from('192.0.2.2')))
    await until(() => handler.counts.inFlight === 3)
    go.open()
    for (const answer of held) expect((await answer).status).toBe(200)
    expect(handler.counts.bodyBytes).toBe(0)
  })

  test('messages of the process take maxBodyBytesInHand, else 503; each value counts 32 bytes', async () => {
    const { url, go, handler } = await holding({ limits: { maxBodyBytesInHand: 20_000 } })
    const held = askModern(url, callTool('hold', {}, { x: Array(400).fill(1) }))
    await until(() => handler.counts.inFlight === 1)
    expect(handler.counts.bodyBytes).toBeGreaterThan(400 * 32)
    expectFull(await askModern(url, callTool('hold', {}, { x: Array(400).fill(1) })), 503, 'maxBodyBytesInHand', 20_000)
    go.open()
    expect((await held).status).toBe(200)
    expect(handler.counts.bodyBytes).toBe(0)
  })

  test('the message of an open subscription counts until it ends', async () => {
    const { url, handler } = await holding({ limits: { maxBodyBytesInHand: 20_000 } })
    const listening = modern({ ...LISTEN, params: { ...LISTEN.params, x: 'x'.repeat(15_000) } })
    const stream = await httpStream(url, listening)
    await stream.message()
    expect(handler.counts.bodyBytes).toBeGreaterThan(15_000)
    expectFull(await http(url, listening), 503, 'maxBodyBytesInHand', 20_000)
    expect((await askModern(url, callTool('hi'))).status).toBe(200)
    stream.destroy()
    await until(() => handler.counts.bodyBytes === 0)
    const ended = await httpStream(url, listening)
    await ended.message()
    await handler.drain()
    expect([await ended.ended, handler.counts.bodyBytes]).toEqual(['end', 0])
  })

  test('messages count while they arrive, and until an abandoned handler ends', async () => {
    const { url, port, go, handler } = await holding({ limits: { maxBodyBytesInHand: 20_000 } })
    const head = 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 30000\r\n\r\n'
    const slow = rawHttp(port, head + 'x'.repeat(15_000))
    await until(() => handler.counts.bodyBytes === 15_000)
    expectFull(await askModern(url, long(6000)), 503, 'maxBodyBytesInHand', 20_000)
    slow.socket.destroy()
    await until(() => handler.counts.bodyBytes === 0)
    expect((await rawHttp(port, head + 'x'.repeat(25_000)).closed).slice(0, 12)).toBe('HTTP/1.1 503')
    expect(handler.counts.bodyBytes).toBe(0)
    const controller = new AbortController()
    const call = modern(long(8000))
    const gone = fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...call.headers },
      body: JSON.stringify(call.body),
      signal: controller.signal,
    })
    await until(() => handler.counts.inFlight === 1)
    controller.abort()
    await gone.catch(() => {})
    await until(() => handler.counts.abandoned === 1)
    expect(handler.counts.bodyBytes).toBeGreaterThan(8000)
    go.open()
    await until(() => handler.counts.bodyBytes === 0)
  })
})

/** Values of the call below, without those that are put into it. */
const VALUES_OF_CALL = ((): number => {
  const tally = { values: 0 }
  const text = JSON.stringify(modern({ method: 'tools/list', params: { x: { y: [] } } }).body)
  scan(text, DEFAULT_READ_BOUNDS, 0, text.length, tally)
  return tally.values - 1
})()

describe('what one request may hold', () => {
  test.each([
    [99, 200],
    [100, 200],
    [101, 431],
  ])('%i headers are answered %i: 100 are allowed', async (count, status) => {
    const { url } = await holding({})
    const call = modern(callTool('hi'))
    // Beside these there are Content-Type, Accept, Host, Connection and Content-Length or Transfer-Encoding.
    const fillers = Object.fromEntries(
      Array.from({ length: count - Object.keys(call.headers ?? {}).length - 5 }, (_, i) => [`x-${i}`, '1']),
    )
    const answer: HttpAnswer = await http(url, { ...call, headers: { ...call.headers, ...fillers } })
    expect(answer.status).toBe(status)
    if (status === 431) expect(answer.message.error).toMatchObject({ code: -32600, message: 'The request has more than 100 headers' })
  })

  test('16 KiB of headers are accepted, more is answered 431 without a handler', async () => {
    const { url, port } = await holding({})
    expect((await askModern(url, callTool('hi'), { 'x-long': 'x'.repeat(15_000) })).status).toBe(200)
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`
    expect((await rawHttp(port, head).closed).slice(0, 12)).toBe('HTTP/1.1 431')
  })

  test.each([
    ['maxDepth', 10, (size: number) => `${'['.repeat(size - 3)}${']'.repeat(size - 3)}`],
    ['maxKeys', 10, (size: number) => JSON.stringify(Object.fromEntries(Array.from({ length: size }, (_, i) => [`k${i}`, i])))],
    // Beside these values there are as many as the call itself has.
    ['maxValues', 60, (size: number) => JSON.stringify(Array(size - VALUES_OF_CALL).fill(1))],
  ] as const)('%s: the limit is accepted, and one more is answered 400 (-32600)', async (limit, max, make) => {
    const { url } = await holding({ limits: { [limit]: max } })
    const call = modern({ method: 'tools/list' })
    const post = (size: number) =>
      http(url, { ...call, body: JSON.stringify(call.body).replace('"params":{', `"params":{"x":{"y":${make(size)}},`) })
    // The value stands three levels deep: message, params, x.
    expect((await post(max - 1)).status).toBe(200)
    expect((await post(max)).status).toBe(200)
    const over = await post(max + 1)
    expect([over.status, over.message.error?.code, over.message.id]).toEqual([400, -32600, 1])
    expect(over.message.error?.message).toContain(`(${limit})`)
  })

  test.each([
    [-1, 200],
    [0, 200],
    [1, 413],
  ])('a body of maxBodyBytes %+i is answered %i, with or without its length', async (more, status) => {
    const maxBodyBytes = 2000
    const { url, onRefused } = await holding({ limits: { maxBodyBytes } })
    const call = modern({ method: 'tools/list', params: { x: '' } })
    const empty = JSON.stringify(call.body).length
    const body = JSON.stringify(call.body).replace('"x":""', `"x":"${'x'.repeat(maxBodyBytes + more - empty)}"`)
    expect(body).toHaveLength(maxBodyBytes + more)
    const said = await http(url, { ...call, body })
    const unsaid = await http(url, { ...call, headers: { ...call.headers, 'transfer-encoding': 'chunked' }, body })
    for (const answer of [said, unsaid]) {
      expect(answer.status).toBe(status)
      if (status === 200) continue
      expect(answer.headers.connection).toBe('close')
      expect(answer.message.error).toMatchObject({ code: -32600, message: 'The message is longer than 2000 bytes (limits.maxBodyBytes)' })
      const where = { httpMethod: 'POST', path: '/mcp', address: '127.0.0.1' }
      expect(onRefused).toHaveBeenCalledWith({ status: 413, kind: 'limit', reason: expect.any(String), limit: 'maxBodyBytes', ...where })
    }
  })
})

describe('connections', () => {
  /** Opens so many and waits for each to be let in or turned away. */
  async function connectMany(port: number, count: number): Promise<{ open: Socket[]; closed: number }> {
    const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    await new Promise((resolve) => setTimeout(resolve, 100))
    const open = sockets.filter((socket) => !socket.closed && !socket.readableEnded)
    return { open, closed: count - open.length }
  }

  test.each([
    ['maxConnections', { maxConnections: 5 }],
    ['maxConnectionsPerAddress', { maxConnectionsPerAddress: 5 }],
  ])('%s connections are accepted and the next is closed at once, until one leaves', async (_name, options) => {
    const { port, url } = await holding(options)
    const { open, closed } = await connectMany(port, 7)
    expect([open.length, closed]).toEqual([5, 2])
    for (const socket of open) socket.resume()
    open[0]?.destroy()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect((await askModern(url, callTool('hi'))).status).toBe(200)
    for (const socket of open) socket.destroy()
  })

  test('maxConnectionsPerAddress can be switched off', async () => {
    const { port } = await holding({ maxConnectionsPerAddress: false })
    const { open, closed } = await connectMany(port, 300)
    expect(closed).toBe(0)
    for (const socket of open) socket.destroy()
  })
})
