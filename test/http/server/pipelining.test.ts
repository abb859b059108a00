import { describe, expect, test, vi } from 'vitest'
import { rawHttp } from '../../support/http-requests.ts'
import {
  callTool,
  gate,
  type HttpSession,
  initializeMessage,
  LISTEN,
  modern,
  openSession,
  serve,
  serveInFakeTime,
  testServer,
  until,
  WATCHED,
} from '../../support/http-service.ts'
import { rawRequest } from '../../support/raw-request.ts'

const inSession = (session: HttpSession, body: unknown) => rawRequest({ headers: session.headers, body })

/** A server with a tool that waits until it is let go or cancelled, and says which. */
function heldServer() {
  const server = testServer()
  const go = gate()
  const ended: string[] = []
  let running = 0
  server.tool('hold', {}, async (_args, ctx) => {
    running++
    const cancelled = new Promise<string>((resolve) => ctx.signal.addEventListener('abort', () => resolve('cancelled')))
    const how = await Promise.race([cancelled, go.opened.then(() => 'done')])
    running--
    ended.push(how)
    return how
  })
  server.tool('talk', {}, async (_args, ctx) => {
    await ctx.progress(1)
    await go.opened
    return 'talked'
  })
  return { server, go, ended, running: () => running }
}

/** What stands behind the first request on the connection, and what is held while it waits. */
const BEHIND: [name: string, request: (session: HttpSession) => string, held: { streams?: number; inFlight?: number }][] = [
  ['a GET stream', ({ headers }) => rawRequest({ method: 'GET', headers: { ...headers, accept: 'text/event-stream' } }), { streams: 1 }],
  ['subscriptions/listen', () => rawRequest(modern(LISTEN)), { streams: 1 }],
  ['a stream of the oldest transport', () => rawRequest({ method: 'GET', path: '/sse' }), { streams: 1 }],
  ['a call that stands alone', () => rawRequest(modern({ ...callTool('hold'), id: 2 })), { inFlight: 1 }],
  ['one that streams already', () => rawRequest(modern({ ...callTool('talk', {}, WATCHED), id: 2 })), { inFlight: 1, streams: 1 }],
  ['one whose body has not come', () => rawRequest(modern({ ...callTool('hold'), id: 2 })).slice(0, -10), {}],
]

describe('requests behind another on one connection hear that it closed', () => {
  test.each(BEHIND)('a pipelined request hears that its connection closed: %s', async (_name, request, held) => {
    const { server, go, ended } = heldServer()
    const { port, url, handler } = await serve(server, { limits: { sessionIdleMs: 300 } })
    const session = await openSession(url, '2025-11-25')
    const raw = rawHttp(port, rawRequest(modern(callTool('hold'))) + request(session))
    await until(() => handler.counts.inFlight === 1 + (held.inFlight ?? 0) && handler.counts.streams === (held.streams ?? 0))
    raw.destroy()
    await until(() => handler.counts.inFlight === 0 && handler.counts.streams === 0)
    // Closing is cancelling for requests that stand alone: nobody let go of them.
    await until(() => ended.length > 0)
    expect(new Set(ended)).toEqual(new Set(['cancelled']))
    // Nothing keeps the session: neither its stream, nor anything that looks like one.
    await until(() => handler.counts.sessions === 0 && handler.counts.legacySessions === 0)
    go.open()
  })

  test('a pipelined call in a session continues, counts as abandoned, and frees its place', async () => {
    const { server, go, ended } = heldServer()
    const { port, url, handler } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    const raw = rawHttp(port, rawRequest(modern(callTool('hold'))) + inSession(session, { jsonrpc: '2.0', id: 7, ...callTool('hold') }))
    await until(() => handler.counts.inFlight === 2)
    raw.destroy()
    await until(() => handler.counts.inFlight === 1)
    expect(ended).toEqual(['cancelled'])
    expect(handler.counts.abandoned).toBe(1)
    go.open()
    await until(() => handler.counts.inFlight === 0)
    expect([ended, handler.counts.abandoned]).toEqual([['cancelled', 'done'], 0])
  })

  test('a pipelined GET stream leaves the session free for the next one', async () => {
    const { server } = heldServer()
    const { port, url, handler } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    const get = rawRequest({ method: 'GET', headers: { ...session.headers, accept: 'text/event-stream' } })
    const raw = rawHttp(port, rawRequest(modern(callTool('hold'))) + get)
    await until(() => handler.counts.streams === 1)
    expect((await session.listen()).status).toBe(409)
    raw.destroy()
    await until(() => handler.counts.streams === 0)
    expect((await session.listen()).status).toBe(200)
  })

  test.each(['2025-03-26', '2025-11-25'])(
    'the session of a pipelined initialize (%s) whose answer never arrived ends',
    async (revision) => {
      const { server } = heldServer()
      const { port, handler } = await serve(server)
      const raw = rawHttp(port, rawRequest(modern(callTool('hold'))) + rawRequest({ body: initializeMessage(revision) }))
      await until(() => handler.counts.sessions === 1)
      raw.destroy()
      await until(() => handler.counts.inFlight === 0)
      await until(() => handler.counts.sessions === 0)
    },
  )

  test('a pipelined DELETE ends its session and releases everything', async () => {
    const { server } = heldServer()
    const { port, url, handler } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    const stream = await session.listen()
    const raw = rawHttp(port, rawRequest(modern(callTool('hold'))) + rawRequest({ method: 'DELETE', headers: session.headers }))
    expect(await stream.ended).toBe('end')
    raw.destroy()
    await until(() => handler.counts.inFlight === 0 && handler.counts.streams === 0 && handler.counts.sessions === 0)
  })

  test('a pipelined resumed stream is released, and can be resumed again', async () => {
    const { server, go } = heldServer()
    const { port, url, handler } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    const stream = await session.askStream(callTool('talk', {}, WATCHED))
    await stream.message()
    const lastEventId = String(stream.events.at(-1)?.id)
    stream.destroy()
    await until(() => handler.counts.streams === 0)
    const back = rawRequest({ method: 'GET', headers: { ...session.headers, accept: 'text/event-stream', 'last-event-id': lastEventId } })
    const raw = rawHttp(port, rawRequest(modern(callTool('hold'))) + back)
    await until(() => handler.counts.streams === 1)
    raw.destroy()
    await until(() => handler.counts.streams === 0 && handler.counts.abandoned === 1)
    const resumed = await session.listen(lastEventId)
    go.open()
    expect((await resumed.message()).result?.content[0].text).toBe('talked')
  })

  test('a pipelined stream of 2024-11-05 ends with the message behind it', async () => {
    const { server, ended } = heldServer()
    const { port, handler } = await serve(server)
    const stream = rawHttp(port, rawRequest({ method: 'GET', path: '/sse' }))
    const [, path = ''] = /data: (\S+)/.exec(await stream.until(/data: \S+/)) ?? []
    const post = (body: unknown) => rawRequest({ path, body })
    rawHttp(port, post(initializeMessage('2024-11-05')) + post({ jsonrpc: '2.0', id: 1, ...callTool('hold') }))
    await until(() => handler.counts.inFlight === 1)
    stream.destroy()
    await until(() => handler.counts.inFlight === 0 && handler.counts.legacySessions === 0)
    expect(ended).toEqual(['cancelled'])
  })

  test('a connection full of pipelined requests releases everything at once', async () => {
    const { server } = heldServer()
    const { port, handler } = await serve(server)
    const listens = Array.from({ length: 20 }, (_, id) => rawRequest(modern({ ...LISTEN, id })))
    const raw = rawHttp(port, rawRequest(modern(callTool('hold'))) + listens.join(''))
    await until(() => handler.counts.streams === 20)
    raw.destroy()
    await until(() => handler.counts.streams === 0 && handler.counts.inFlight === 0)
  })

  test('a connection on which Node stops reading because of many requests also releases everything', async () => {
    const { server } = heldServer()
    const limits = { stallMs: 200, keepAliveMs: 100, streamAfterMs: 100 }
    const { port, handler } = await serve(server, { limits })
    const listens = Array.from({ length: 300 }, (_, id) => rawRequest(modern({ ...LISTEN, id })))
    const raw = rawHttp(port, rawRequest(modern(callTool('hold'))) + listens.join(''))
    await until(() => handler.counts.streams > 20)
    raw.destroy()
    await until(() => handler.counts.streams === 0 && handler.counts.inFlight === 0)
  })
})

test('a stream that is never written is cancelled after stallMs, and reported once', async () => {
  const { server } = heldServer()
  const onRefused = vi.fn()
  const { port, endpoint, pass } = await serveInFakeTime(server, { onRefused, limits: { stallMs: 5_000, keepAliveMs: 2_000 } })
  const raw = rawHttp(port, rawRequest(modern(callTool('hold'))) + rawRequest(modern(LISTEN)))
  await until(() => endpoint.counts.streams === 1 && endpoint.counts.inFlight === 1)
  await pass(20_000)
  // What is left is the stream of the call, which got one in the meantime.
  expect(endpoint.counts).toMatchObject({ streams: 1, inFlight: 1 })
  const where = { httpMethod: 'POST', path: '/mcp', address: '127.0.0.1' }
  expect(onRefused.mock.calls).toEqual([
    [{ status: 0, kind: 'limit', reason: 'A client that did not read was disconnected', limit: 'stallMs', ...where }],
  ])
  raw.destroy()
  await until(() => endpoint.counts.streams === 0 && endpoint.counts.inFlight === 0)
})

test('pipelined answers come complete and in the order of the requests', async () => {
  const { server, go } = heldServer()
  const { port } = await serve(server)
  const ask = (name: string, id: number) => rawRequest(modern({ ...callTool(name), id }))
  const raw = rawHttp(port, ask('hold', 1) + ask('hi', 2) + ask('hold', 3) + ask('hi', 4))
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(raw.received).toBe('')
  go.open()
  await raw.until(/"id":4/)
  expect(raw.received.match(/"id":\d/g)).toEqual(['"id":1', '"id":2', '"id":3', '"id":4'])
  raw.destroy()
})

describe('a client that sends nothing more and waits', () => {
  test.each([
    ['a call that stands alone', 'hold', () => rawRequest(modern(callTool('hold')))],
    ['one that streams', 'talk', () => rawRequest(modern(callTool('talk', {}, WATCHED)))],
    ['a call in a session', 'hold', (session: HttpSession) => inSession(session, { jsonrpc: '2.0', id: 1, ...callTool('hold') })],
    [
      'two calls one after the other',
      'hold',
      () => rawRequest(modern(callTool('hold'))) + rawRequest(modern({ ...callTool('hold'), id: 2 })),
    ],
  ])('a client that half-closes its connection gets its answer: %s', async (_name, tool, request) => {
    const { server, go } = heldServer()
    const { port, url, handler } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    const raw = rawHttp(port, request(session))
    raw.socket.end()
    await until(() => handler.counts.inFlight > 0)
    await new Promise((resolve) => setTimeout(resolve, 80))
    go.open()
    expect(await raw.closed).toContain(tool === 'hold' ? '"text":"done"' : '"text":"talked"')
    // The connection is of no more use, and nothing is left of it.
    await until(() => handler.counts.inFlight === 0 && handler.counts.streams === 0)
  })

  test('a client that half-closes a GET stream still hears events', async () => {
    const { server } = heldServer()
    const { port, url, handler } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    const raw = rawHttp(port, rawRequest({ method: 'GET', headers: { ...session.headers, accept: 'text/event-stream' } }))
    await raw.until(/event-stream/)
    raw.socket.end()
    await new Promise((resolve) => setTimeout(resolve, 80))
    server.tool('new', {}, () => 'x')
    await raw.until(/list_changed/)
    expect(handler.counts.streams).toBe(1)
    raw.destroy()
  })

  test('a client of HTTP/1.0 that half-closes its connection counts as gone', async () => {
    const { server, ended } = heldServer()
    const { port, handler } = await serve(server)
    const raw = rawHttp(port, rawRequest(modern(callTool('hold'))).replace('HTTP/1.1', 'HTTP/1.0'))
    await until(() => handler.counts.inFlight === 1)
    raw.socket.end()
    await until(() => handler.counts.inFlight === 0)
    expect(ended).toEqual(['cancelled'])
  })
})
