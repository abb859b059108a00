/** Limits of callers that hold for all replicas together. */

import { describe, expect, test, vi } from 'vitest'
import { McpError } from '../../../../src/protocol/errors.ts'
import type { Counters } from '../../../../src/protocol/interfaces/counters.ts'
import type { Server } from '../../../../src/server/index.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { type EventReader, type HttpAnswer, http, httpStream } from '../../../support/http-requests.ts'
import {
  askModern,
  byHeader,
  callTool,
  gate,
  type HttpSession,
  LISTEN,
  modern,
  openSession,
  sessionAt,
  type TestHttpOptions,
  testServer,
  until,
} from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { type Replicas, serveReplicas as serveWith, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const server = redisOfFile()
const ADA = { 'x-user': 'ada' }
const BOB = { 'x-user': 'bob' }

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(server, 1000)],
]

const reasonOf = ({ message }: HttpAnswer): string | undefined =>
  (message as { error?: { data?: { reason?: string } } } | undefined)?.error?.data?.reason

describe.each(STORES)('limits with a store in %s', (_name, storesOf) => {
  const serveReplicas = async (
    make: (replica: number) => Server,
    options: TestHttpOptions & { count?: number; stores?: SharedStore[] } = {},
  ): Promise<Replicas> => serveWith(make, { count: 3, stores: await storesOf(3), authenticate: byHeader, ...options })

  test('a session may resume eight streams at one replica, also if they come at once', async () => {
    const go = gate()
    const { urls } = await serveReplicas(() => {
      const own = testServer()
      own.tool('wait', {}, async (_args, ctx) => {
        await ctx.progress(1)
        await go.opened
        return 'done'
      })
      return own
    })
    const session = await openSession(urls[0] as string, '2025-11-25', { headers: ADA })
    const ids: string[] = []
    for (let id = 1; id <= 9; id++) {
      const stream = await session.askStream({ ...callTool('wait', {}, { _meta: { progressToken: id } }), id })
      await stream.message()
      ids.push(stream.events.find(({ data }) => data)?.id ?? '')
    }
    const other = sessionAt(urls[1] as string, session.id, session.headers)
    const resumed = await Promise.all(ids.map((id) => other.listen(id)))
    expect(resumed.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 8 }, () => 200), 429])
    go.open()
  })

  test('a request that waits for its place during the shutdown is refused, and no handler runs', async () => {
    const stores = await storesOf(1)
    const { counters } = stores[0] as SharedStore
    const { hold } = counters
    const [asked, go] = [gate(), gate()]
    counters.hold = async (...args) => {
      asked.open()
      await go.opened
      return hold(...args)
    }
    const called = vi.fn(() => 'called')
    const { url, handlers } = await serveReplicas(
      () => {
        const own = testServer()
        own.tool('spy', {}, called)
        return own
      },
      { count: 1, stores },
    )
    const answer = askModern(url, callTool('spy'), ADA)
    await asked.opened
    await handlers[0]?.drain(1000)
    go.open()
    expect(await answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, message: { id: 1, error: { code: -32603 } } })
    expect(called).not.toHaveBeenCalled()
    expect(handlers[0]?.counts).toMatchObject({ inFlight: 0, bodyBytes: 0 })
  })

  test('a caller gets its rate of tool calls once, and not at each replica', async () => {
    const limits = { toolCalls: { perSecond: 0.001, burst: 12 } }
    const { urls } = await serveReplicas(() => testServer({ limits }))
    const session = await openSession(urls[0] as string, '2025-11-25', { headers: ADA })
    const answers: HttpAnswer[] = []
    for (let i = 0; i < 10; i++) {
      const url = urls[i % 3] as string
      answers.push(await askModern(url, { ...callTool('hi'), id: i }, ADA))
      answers.push(await sessionAt(url, session.id, session.headers).ask({ ...callTool('hi'), id: i }))
    }
    const refused = answers.filter((answer) => reasonOf(answer) === 'rate-limited')
    expect(answers.length - refused.length).toBe(12)
    expect(refused[0]?.message).toMatchObject({ error: { data: { limit: 'toolCalls', retryAfterMs: expect.any(Number) } } })
    expect((await askModern(urls[1] as string, callTool('hi'), BOB)).message).toMatchObject({ result: { content: [{ text: 'hi' }] } })
  })

  test('the requests of a caller in progress are limited for all replicas together', async () => {
    const go = gate()
    let begun = 0
    const define = (): Server => {
      const holding = testServer()
      holding.tool('hold', {}, async () => {
        begun++
        await go.opened
        return 'held'
      })
      return holding
    }
    const { urls } = await serveReplicas(define, { limits: { maxInFlightPerPrincipal: 4 } })
    const held = urls.flatMap((url) => [1, 2].map((id) => askModern(url, { ...callTool('hold'), id }, ADA)))
    const early = await Promise.race(held)
    expect(early).toMatchObject({ status: 429, message: { error: { data: { limit: 'maxInFlightPerPrincipal', max: 4 } } } })
    await until(() => begun === 4)
    expect((await askModern(urls[0] as string, callTool('hi'), BOB)).status).toBe(200)
    expect((await askModern(urls[1] as string, callTool('hi'), ADA)).status).toBe(429)
    go.open()
    const statuses = (await Promise.all(held)).map(({ status }) => status)
    expect([statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 429).length]).toEqual([4, 2])
    // Places are given back when they are renewed.
    await vi.waitFor(async () => expect((await askModern(urls[2] as string, callTool('hi'), ADA)).status).toBe(200), 20_000)
  })

  test('calls that run again at another replica count in the limit of their caller at all replicas', async () => {
    const go = gate()
    const runs: number[] = []
    const define = (replica: number): Server => {
      const own = testServer()
      own.tool('wait', { restartable: true }, async (_args, ctx) => {
        runs.push(replica)
        await Promise.race([go.opened, new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))])
        return 'done'
      })
      return own
    }
    const { urls, handlers } = await serveReplicas(define, { limits: { maxInFlightPerPrincipal: 2 } })
    const session = await openSession(urls[0] as string, '2025-11-25', { headers: ADA })
    for (const id of [1, 2]) await (await session.askStream({ ...callTool('wait'), id })).next()
    await until(() => runs.length === 2)
    await handlers[0]?.drain(0)
    await handlers[0]?.close()
    await until(() => runs.length === 4)
    // Asked only where they do not run.
    const other = urls[runs.includes(1) ? 2 : 1] as string
    await until(async () => (await askModern(other, callTool('hi'), ADA)).status === 429)
    go.open()
    await until(async () => (await askModern(other, callTool('hi'), ADA)).status === 200)
  })

  test('the listen requests of a caller are limited for all replicas together', async () => {
    const { urls } = await serveReplicas(() => testServer(), { limits: { maxListensPerPrincipal: 2 } })
    const listen = (url: string, headers: Record<string, string>): Promise<EventReader> => httpStream(url, modern(LISTEN, headers))
    const open = [await listen(urls[0] as string, ADA), await listen(urls[1] as string, ADA)]
    expect(open.map(({ status }) => status)).toEqual([200, 200])
    expect(await http(urls[2] as string, modern(LISTEN, ADA))).toMatchObject({
      status: 429,
      message: { error: { data: { limit: 'maxListensPerPrincipal', max: 2 } } },
    })
    const other = await listen(urls[2] as string, BOB)
    expect(other.status).toBe(200)
    open[0]?.destroy()
    await vi.waitFor(async () => {
      const again = await listen(urls[2] as string, ADA)
      again.destroy()
      expect(again.status).toBe(200)
    }, 20_000)
    for (const each of [...open, other]) each.destroy()
  })

  test('refused credentials of an address are counted at all replicas', async () => {
    const refuseAll = () => ({ status: 401 as const, message: 'No', headers: { 'www-authenticate': 'Test' } })
    const limits = { failedLogins: { perSecond: 0.001, burst: 3 } }
    const { urls } = await serveReplicas(() => testServer(), { authenticate: refuseAll, limits })
    const login = async (replica: number, token: string): Promise<number> =>
      (await askModern(urls[replica] as string, callTool('hi'), { authorization: `Test ${token}` })).status
    // The same credentials count once, wherever they are refused.
    expect([await login(0, 'a'), await login(1, 'a'), await login(2, 'a')]).toEqual([401, 401, 401])
    expect([await login(1, 'b'), await login(2, 'c')]).toEqual([401, 401])
    expect([await login(0, 'd'), await login(1, 'e'), await login(2, 'f')]).toEqual([429, 429, 429])
  })
})

/** A store whose counters can be switched off. */
function breakable(store: SharedStore): { store: SharedStore; set: (isDown: boolean) => void } {
  let isDown = false
  const counters = Object.fromEntries(
    Object.entries(store.counters).map(([name, method]) => [
      name,
      async (...args: unknown[]) => {
        if (isDown) throw new McpError('ERR_STORE_DOWN', 'No connection')
        return (method as (...args: unknown[]) => unknown)(...args)
      },
    ]),
  )
  return { store: { ...store, counters: counters as unknown as Counters }, set: (down) => (isDown = down) }
}

test('without the store a limited request is refused with 503 and Retry-After, until the store is back', async () => {
  const { store, set } = breakable(storesInMemory(1)[0] as SharedStore)
  const limits = { toolCalls: { perSecond: 10, burst: 10 } }
  const { urls } = await serveWith(() => testServer({ limits }), {
    count: 1,
    stores: [store],
    authenticate: (request) => (request.header('authorization') ? { status: 401, message: 'No', headers: {} } : byHeader(request)),
    limits: { failedLogins: { perSecond: 1, burst: 1 } },
  })
  const url = urls[0] as string
  const down = { status: 503, headers: { 'retry-after': '2' }, message: { error: { data: { reason: 'store_down', retryable: true } } } }
  const session = await openSession(url, '2025-11-25', { headers: ADA })
  set(true)
  // A new caller needs a place.
  expect(await askModern(url, { method: 'tools/list' }, BOB)).toMatchObject(down)
  expect(await askModern(url, LISTEN, ADA)).toMatchObject(down)
  expect(await askModern(url, callTool('hi'), { authorization: 'Test x' })).toMatchObject({ ...down, message: expect.anything() })
  set(false)
  expect((await askModern(url, { method: 'tools/list' }, BOB)).status).toBe(200)
  set(true)
  // It has a place, but needs a token.
  expect(await askModern(url, callTool('hi'), ADA)).toMatchObject(down)
  expect(await session.ask(callTool('hi'))).toMatchObject(down)
  set(false)
  expect((await askModern(url, callTool('hi'), ADA)).status).toBe(200)
  expect((await session.ask(callTool('hi'))).status).toBe(200)
})

test('the subscriptions of all sessions of a caller have a limit at all replicas together', async () => {
  const define = () => {
    const server = testServer()
    server.resource('a:{name}', { name: 'any' }, () => 'x')
    return server
  }
  const { urls, stores } = await serveWith(define, { authenticate: byHeader, limits: { maxSessionsPerPrincipal: 100 } })
  const uriOf = (i: number): string => `a:${String(i).padEnd(8190, 'x')}`
  const subscribe = (session: HttpSession, uri: string) => session.ask({ method: 'resources/subscribe', params: { uri } })
  const sessions: HttpSession[] = []
  for (let i = 0; i < 32; i++) {
    const session = await openSession(urls[i % 3] as string, '2025-11-25', { headers: ADA })
    sessions.push(session)
    for (let at = 0; at < 8; at++) expect((await subscribe(session, uriOf(at))).message.error).toBeUndefined()
  }
  const more = await openSession(urls[0] as string, '2025-11-25', { headers: ADA })
  // A session with few of them does not count.
  expect((await subscribe(more, 'a:1')).message.error).toBeUndefined()
  expect((await subscribe(more, uriOf(1))).message.error).toMatchObject({ data: { limit: 'maxSubscriptionsPerCaller', max: 32_768 } })
  const bob = await openSession(urls[1] as string, '2025-11-25', { headers: BOB })
  expect((await subscribe(bob, uriOf(1))).message.error).toBeUndefined()
  await sessions[0]?.end()
  expect((await subscribe(more, uriOf(1))).message.error).toBeUndefined()
  expect(await stores[0]?.topics.size('subscriptions')).toBe(31 * 16 + 2 + 2)
})
