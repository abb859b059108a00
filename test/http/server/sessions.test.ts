import { readdirSync, readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import { CallerUsage } from '../../../src/http/server/limits/caller-usage.ts'
import { HttpSession } from '../../../src/http/server/session/session.ts'
import { createServer } from '../../../src/server/index.ts'
import { http, httpStream } from '../../support/http-requests.ts'
import {
  byHeader,
  callTool,
  collectGarbage,
  gate,
  holdingServer,
  initializeMessage,
  openSession,
  STREAMABLE,
  serve,
  serveInFakeTime,
  testServer,
  until,
  WATCHED,
  workingServer,
} from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'

const NOT_FOUND = { code: -32600, message: 'Session not found' }
const VISIBLE = /^[\x21-\x7e]+$/

describe('a session', () => {
  test.each(STREAMABLE)('a session begins with initialize of %s, whose answer carries its id, and spans requests', async (revision) => {
    proves('T-HTTP-058', 'T-HTTP-059', 'T-HTTP-061')
    const server = testServer()
    server.tool('which', {}, (_args, ctx) => `${ctx.caller.revision} ${ctx.caller.client?.name}`)
    const { url, handler } = await serve(server)
    const opened = await http(url, { body: initializeMessage(revision) })
    expect([opened.status, opened.headers['content-type']]).toEqual([200, 'application/json'])
    expect(opened.message.result?.protocolVersion).toBe(revision)
    expect(opened.headers['mcp-session-id']).toMatch(VISIBLE)
    const session = await openSession(url, revision)
    expect((await session.ask(callTool('which'))).message.result?.content[0].text).toBe(`${revision} raw`)
    expect(handler.counts.sessions).toBe(2)
  })

  test('100,000 ids are unique, of 128 bits and visible ASCII', () => {
    proves('T-HTTP-060', 'T-HTTP-061', 'T-SEC-010')
    const channel = { version: undefined } as never
    const options = {
      service: { open: () => channel } as never,
      limits: {} as never,
      inFlight: {} as never,
      open: {} as never,
      kept: {} as never,
      now: () => 0,
    }
    const usage = new CallerUsage('unknown')
    const ids = new Set<string>()
    let isVisible = true
    for (let i = 0; i < 100_000; i++) {
      const { id } = new HttpSession(undefined, usage, options)
      isVisible &&= VISIBLE.test(id) && Buffer.from(id, 'base64url').length === 16
      ids.add(id)
    }
    expect([ids.size, isVisible]).toEqual([100_000, true])
    // Every bit is set about half of the time.
    const counts = new Array<number>(128).fill(0)
    for (const id of ids)
      for (const [at, byte] of Buffer.from(id, 'base64url').entries())
        for (let bit = 0; bit < 8; bit++) counts[at * 8 + bit]! += (byte >> bit) & 1
    for (const count of counts) expect(Math.abs(count - 50_000)).toBeLessThan(1_500)
  })

  test('no source file of the server uses Math.random', () => {
    proves('T-SEC-011')
    const root = new URL('../../../src/', import.meta.url)
    const isOfServer = (name: string) => /^(jsonrpc|protocol|revisions|server|http.server).*\.ts$/.test(name)
    const files = readdirSync(root, { recursive: true }).map(String).filter(isOfServer)
    expect(files.length).toBeGreaterThan(50)
    expect(files.filter((file) => readFileSync(new URL(file, root), 'utf8').includes('Math.random'))).toEqual([])
  })

  test('requests without a session id are answered 400, all but initialize', async () => {
    proves('T-HTTP-064')
    const { url } = await serve(testServer())
    const headers = { 'mcp-protocol-version': '2025-11-25' }
    const posted = await http(url, { headers, body: { jsonrpc: '2.0', id: 3, method: 'tools/list' } })
    const noticed = await http(url, { headers, body: { jsonrpc: '2.0', method: 'notifications/initialized' } })
    const got = await http(url, { method: 'GET', headers })
    const deleted = await http(url, { method: 'DELETE', headers })
    for (const { status, message } of [posted, noticed, got, deleted]) expect([status, message.error?.code]).toEqual([400, -32600])
  })

  test('a session ends with DELETE: 204, then 404; its streams end and its calls are aborted', async () => {
    proves('T-HTTP-028', 'T-HTTP-065', 'T-HTTP-066')
    const { server, begun, aborted } = workingServer()
    const { url, handler } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    const standing = await session.listen()
    const stream = await session.askStream(callTool('work', {}, WATCHED))
    await begun.opened
    expect((await session.end()).status).toBe(204)
    await aborted.opened
    expect([await standing.ended, await stream.ended]).toEqual(['end', 'end'])
    const later = [await session.ask(callTool('hi')), await http(url, { method: 'GET', headers: session.headers }), await session.end()]
    for (const { status, message } of later) expect([status, message.error]).toEqual([404, NOT_FOUND])
    await until(() => handler.counts.inFlight === 0)
    expect(handler.counts).toMatchObject({ inFlight: 0, streams: 0, sessions: 0 })
  })

  test('a handshake that fails leaves no session behind', async () => {
    const { url, handler } = await serve(testServer())
    const { status, message, headers } = await http(url, {
      body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } },
    })
    expect([status, message.error?.code, headers['mcp-session-id']]).toEqual([200, -32602, undefined])
    expect(handler.counts.sessions).toBe(0)
  })

  test('initialize inside a session is refused and the session continues', async () => {
    const { url } = await serve(testServer())
    const session = await openSession(url, '2025-11-25')
    const again = await session.post(initializeMessage('2025-11-25'))
    expect([again.status, again.message.error?.code]).toEqual([400, -32600])
    expect((await session.ask(callTool('hi'))).status).toBe(200)
  })
})

describe('one id twice', () => {
  test('the second request is answered 400 and -32600 at once, the first completes', async () => {
    const { server, begun, go } = holdingServer()
    const { url } = await serve(server)
    const session = await openSession(url, '2025-11-25')
    const first = session.ask({ ...callTool('hold'), id: 7 })
    await begun.opened
    const second = await session.ask({ ...callTool('hi'), id: 7 })
    expect([second.status, second.message.id, second.message.error?.code]).toEqual([400, 7, -32600])
    go.open()
    expect((await first).message).toMatchObject({ id: 7, result: { content: [{ text: 'held' }] } })
    expect((await session.ask({ ...callTool('hi'), id: 7 })).status).toBe(200)
  })
})

describe('a session of somebody else', () => {
  test('a session of another principal is answered 404 and reported, and its owner is not affected', async () => {
    proves('T-SEC-007', 'T-SEC-013', 'T-SEC-014')
    const onRefused = vi.fn()
    const server = testServer()
    const called = vi.fn(() => 'x')
    server.tool('spy', {}, called)
    const { url } = await serve(server, { authenticate: byHeader, onRefused })
    const alice = await openSession(url, '2025-11-25', { headers: { 'x-user': 'alice' } })
    const standing = await alice.listen()
    const asMallory = async (id: string) => {
      const headers = { ...alice.headers, 'x-user': 'mallory', 'mcp-session-id': id }
      const post = await http(url, { headers, body: { jsonrpc: '2.0', id: 1, ...callTool('spy') } })
      const notice = await http(url, { headers, body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } } })
      const get = await http(url, { method: 'GET', headers })
      const end = await http(url, { method: 'DELETE', headers })
      return [post, notice, get, end].map(({ status, text, headers: { date: _date, ...rest } }) => ({ status, text, rest }))
    }
    const stolen = await asMallory(alice.id)
    expect(stolen).toEqual(await asMallory('AAAAAAAAAAAAAAAAAAAAAA'))
    for (const { status, text } of stolen) expect([status, (JSON.parse(text) as Message).error]).toEqual([404, NOT_FOUND])
    expect(called).not.toHaveBeenCalled()
    expect(onRefused).toHaveBeenCalledTimes(8)
    expect(onRefused).toHaveBeenCalledWith({
      status: 404,
      kind: 'session_not_found',
      reason: 'Session not found',
      httpMethod: 'POST',
      path: '/mcp',
      principal: expect.any(String),
      address: '127.0.0.1',
    })
    expect(JSON.stringify(onRefused.mock.calls)).not.toContain(alice.id)
    expect((await alice.ask(callTool('spy'))).status).toBe(200)
    server.log.error('for alice')
    expect((await standing.message()).params.data).toBe('for alice')
  })
})

test('a session id is no proof of the caller: every request in it is authenticated', async () => {
  proves('T-SEC-008', 'T-SEC-009')
  const { url } = await serve(testServer(), { authenticate: byHeader })
  const { id } = await openSession(url, '2025-11-25', { headers: { 'x-user': 'alice' } })
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
  for (const call of [{ body: { jsonrpc: '2.0', id: 1, ...callTool('hi') } }, { method: 'GET' }, { method: 'DELETE' }])
    expect((await http(url, { ...call, headers })).status).toBe(401)
})

test('a caller has one rate limit for all its sessions, and the error names the request', async () => {
  const server = createServer({ name: 'test', version: '1', limits: { toolCalls: { perSecond: 0.001, burst: 3 } } })
  server.tool('hi', {}, () => 'hi')
  const { url } = await serve(server, { authenticate: byHeader })
  const answers: unknown[] = []
  for (const user of ['alice', 'alice', 'bob']) {
    const session = await openSession(url, '2025-11-25', { headers: { 'x-user': user } })
    for (const id of ['a', 'b']) {
      const { message } = await session.ask({ ...callTool('hi'), id })
      answers.push(message.error ? [message.id, message.error.data.limit] : 'ok')
    }
  }
  expect(answers).toEqual(['ok', 'ok', 'ok', ['b', 'toolCalls'], 'ok', 'ok'])
})

test('a refusal of a readable request carries its id', async () => {
  const { url } = await serve(testServer())
  const headers = { 'mcp-session-id': 'AAAAAAAAAAAAAAAAAAAAAA', 'mcp-protocol-version': '2025-11-25' }
  const body = { jsonrpc: '2.0', id: 'mine', method: 'tools/list' }
  const answers = [await http(url, { body }), await http(url, { body, headers })]
  expect(answers.map(({ status, message }) => [status, message.id])).toEqual([
    [400, 'mine'],
    [404, 'mine'],
  ])
})

describe('after the end', () => {
  test('DELETE during a call aborts its signal, and later messages of the handler are dropped', async () => {
    const server = testServer()
    const begun = gate()
    const finished = gate<string>()
    server.tool('stubborn', {}, async (_args, ctx) => {
      await ctx.progress(1)
      begun.open()
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
      await ctx.progress(2)
      ctx.log.error('SECRET')
      const asked = await ctx.elicit('q', 'Q?', { type: 'object', properties: {} } as const).then(
        () => 'answered',
        (error: { code?: string; name: string }) => error.code ?? error.name,
      )
      finished.open(asked)
      return 'SECRET'
    })
    const errors = vi.spyOn(console, 'error')
    const written = vi.spyOn(process.stderr, 'write')
    const { url } = await serve(server)
    const session = await openSession(url, '2025-11-25', { capabilities: { elicitation: {} } })
    const standing = await session.listen()
    const stream = await session.askStream(callTool('stubborn', {}, WATCHED))
    await begun.opened
    await session.end()
    expect(await finished.opened).toBe('ERR_CLOSED')
    await Promise.all([stream.ended, standing.ended])
    expect(stream.text + standing.text).not.toContain('SECRET')
    expect(JSON.stringify([errors.mock.calls, written.mock.calls])).not.toContain('SECRET')
    errors.mockRestore()
    written.mockRestore()
  })
})

describe('unused sessions', () => {
  test('sessions end when unused for sessionIdleMs; requests and open streams count as use', async () => {
    const { url, pass, endpoint } = await serveInFakeTime(testServer(), { limits: { sessionIdleMs: 60_000, pingMs: 1e9 } })
    const idle = await openSession(url, '2025-11-25')
    const used = await openSession(url, '2025-11-25')
    const listening = await openSession(url, '2025-11-25')
    const standing = await listening.listen()
    await pass(50_000)
    expect((await used.ask(callTool('hi'))).status).toBe(200)
    expect(endpoint.counts.sessions).toBe(3)
    await pass(15_000)
    expect((await idle.ask(callTool('hi'))).status).toBe(404)
    expect((await used.ask(callTool('hi'))).status).toBe(200)
    expect((await listening.ask(callTool('hi'))).status).toBe(200)
    standing.destroy()
    await until(() => endpoint.counts.streams === 0)
    await pass(63_000)
    expect(endpoint.counts.sessions).toBe(0)
  })

  test('a running call keeps its session', async () => {
    const { server, go } = holdingServer()
    const { url, pass, endpoint } = await serveInFakeTime(server, { limits: { sessionIdleMs: 10_000, streamAfterMs: 1e9 } })
    const session = await openSession(url, '2025-11-25')
    const answer = session.ask(callTool('hold'))
    await until(() => endpoint.counts.inFlight === 1)
    await pass(60_000)
    go.open()
    expect((await answer).status).toBe(200)
  })

  test.each(['2099-01-01', 'abc', '2026-07-28x'])(
    'a DELETE with the version %s is answered 400, and the session continues',
    async (version) => {
      proves('T-HDR-004')
      const { url } = await serve(testServer())
      const session = await openSession(url, '2025-11-25')
      const headers = { ...session.headers, 'mcp-protocol-version': version }
      expect(await http(url, { method: 'DELETE', headers, isBare: true })).toMatchObject({
        status: 400,
        message: { error: { message: expect.stringContaining('Unsupported protocol version') } },
      })
      expect((await session.ask(callTool('hi'))).status).toBe(200)
      expect((await session.end()).status).toBe(204)
    },
  )

  test('sessions and their streams end after sessionMaxAgeMs, even if they are in use', async () => {
    proves('T-HTTP-028')
    const { url, pass, endpoint } = await serveInFakeTime(testServer(), { limits: { sessionMaxAgeMs: 100_000, pingMs: 1e9 } })
    const session = await openSession(url, '2025-11-25')
    const standing = await session.listen()
    await pass(99_000)
    expect((await session.ask(callTool('hi'))).status).toBe(200)
    await pass(1_000)
    expect(await standing.ended).toBe('end')
    expect((await session.ask(callTool('hi'))).status).toBe(404)
    expect(endpoint.counts).toMatchObject({ inFlight: 0, streams: 0, sessions: 0 })
  })

  test('idle sessions make room at maxSessions, and their memory is freed after the idle time', async () => {
    proves('T-SEC-012')
    const max = 3_000
    const { url, pass, endpoint } = await serveInFakeTime(testServer(), {
      limits: { maxSessions: max, maxSessionsPerAddress: false, sessionIdleMs: 60_000 },
    })
    const agent = new Agent({ keepAlive: true, maxSockets: 32 })
    const body = initializeMessage('2025-11-25')
    const openMany = async (count: number) => {
      const statuses = new Map<number, number>()
      await Promise.all(
        Array.from({ length: 32 }, async () => {
          while (count-- > 0) {
            const { status } = await http(url, { body, agent })
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
          }
        }),
      )
      return Object.fromEntries(statuses)
    }
    await openMany(1_000)
    await pass(61_000)
    const before = heap()
    expect(await openMany(max + 500)).toEqual({ 200: max + 500 })
    expect(endpoint.counts.sessions).toBe(max)
    await pass(61_000)
    expect(endpoint.counts.sessions).toBe(0)
    agent.destroy()
    expect(heap()).toBeLessThan(before * 1.1)
    expect((await httpStream(url, { body })).status).toBe(200)
  })
})

/** Bytes in use, after everything that can be collected was. */
function heap(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
