/** Batches of 2025-03-26 at several replicas: each request in them counts, and has an id of its own. */

import { describe, expect, test } from 'vitest'
import type { SharedStore } from '../../../../src/store/index.ts'
import type { HttpAnswer } from '../../../support/http-requests.ts'
import { byHeader, callTool, gate, type HttpSession, openSession, sessionAt, testServer, until } from '../../../support/http-service.ts'
import type { Message } from '../../../support/raw-channel.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(redisOfFile(), 1000)],
]

const REVISION = '2025-03-26'
const ADA = { 'x-user': 'ada' }

const call = (id: number | string, name = 'hold'): Message => ({ jsonrpc: '2.0', id, ...callTool(name) })
const calls = (count: number, name = 'hold', from = 0): Message[] => Array.from({ length: count }, (_, i) => call(from + i, name))

/** Three replicas with a tool `hold` that waits for `go`, or until its call is aborted. */
async function holding(stores: SharedStore[], limits = {}) {
  const counts = { running: 0, most: 0, aborted: 0 }
  const go = gate()
  const replicas = await serveReplicas(
    () => {
      const server = testServer()
      server.tool('hold', {}, async (_args, ctx) => {
        counts.most = Math.max(counts.most, ++counts.running)
        await Promise.race([go.opened, new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))])
        counts.running--
        if (ctx.signal.aborted) counts.aborted++
        return 'held'
      })
      return server
    },
    { stores, authenticate: byHeader, limits },
  )
  const open = (): Promise<HttpSession> => openSession(replicas.urls[0] as string, REVISION, { headers: ADA })
  const at = (replica: number, { id, headers }: HttpSession): HttpSession => sessionAt(replicas.urls[replica] as string, id, headers)
  return { ...replicas, counts, go, open, at }
}

/** Sends batches until no more of them are refused, and lets the others end. */
async function settle(posts: Promise<HttpAnswer>[], go: { open(): void }): Promise<HttpAnswer[]> {
  const answered = new Set<HttpAnswer>()
  for (const post of posts) void post.then((answer) => answered.add(answer))
  let before = -1
  while (before < answered.size || before === 0) {
    before = answered.size
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  go.open()
  return Promise.all(posts)
}

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  test.each([
    ['maxInFlightPerSession', 1, 64, { maxInFlightPerPrincipal: 1000 }],
    ['maxInFlightPerPrincipal', 10, 256, {}],
  ])('%s holds for the requests in batches that come to all replicas at once', async (limit, sessions, max, limits) => {
    const { counts, go, open, at, handlers } = await holding(await storesOf(3), limits)
    const opened = await Promise.all(Array.from({ length: sessions }, open))
    const posts = Array.from({ length: 10 }, (_, i) => at(i % 3, opened[i % sessions] as HttpSession).post(calls(50, 'hold', i * 50)))
    const answers = await settle(posts, go)
    expect(counts.most).toBeLessThanOrEqual(max)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, message } of refused)
      expect([status, message.error]).toMatchObject([429, { data: { reason: 'limit', limit, max } }])
    // Everything was given back.
    await until(async () => (await at(1, opened[0] as HttpSession).post(calls(50, 'hi'))).status === 200)
    expect(handlers.map((handler) => handler.counts.inFlight)).toEqual([0, 0, 0])
  })

  test('an id that is in progress in a batch is refused at each replica, until the batch is over', async () => {
    const { counts, go, open, at } = await holding(await storesOf(3))
    const session = await open()
    const first = session.post([call(1), call('1'), call(2, 'hi')])
    await until(() => counts.running === 2)
    for (const replica of [0, 1]) {
      const elsewhere = at(replica, session)
      for (const body of [call(1), [call(3), call(1)], [call(2), call(3)], [call('1'), call(4)]]) {
        const { status, message } = await elsewhere.post(body)
        expect([status, message.error?.message]).toEqual([400, expect.stringContaining('is already in progress')])
      }
    }
    // What was refused is not in progress.
    expect((await at(2, session).post([call(3, 'hi'), call(4, 'hi')])).status).toBe(200)
    expect(counts.most).toBe(2)
    go.open()
    expect((await first).status).toBe(200)
    await until(async () => (await at(1, session).post([call(1, 'hi'), call('1', 'hi')])).status === 200)
  })

  test('a request of a batch ends although its replica misses the message that cancels it', async () => {
    const stores = await storesOf(3)
    const { counts, open, at } = await holding(stores)
    const session = await open()
    const asked = session.post([call(7), call(8, 'hi')])
    await until(() => counts.running === 1)
    for (const { replica } of stores.slice(1)) replica.send = async () => true
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
    expect((await at(1, session).post(cancelled)).status).toBe(202)
    await until(() => counts.aborted === 1)
    expect((await asked).message).toMatchObject([{ id: 8 }])
  })
})

test.each(['maxInFlightPerSession', 'maxInFlightPerPrincipal', 'maxInFlight'])(
  'a batch with more requests than %s gets an error that names the limit',
  async (limit) => {
    const { open } = await holding(storesInMemory(3), { [limit]: 4 })
    const session = await open()
    const { status, headers, message } = await session.post(calls(5, 'hi'))
    expect([status, headers['retry-after'], message.error]).toMatchObject([
      400,
      undefined,
      { message: expect.stringContaining(`at most 4 may be in progress (limits.${limit})`), data: { reason: 'limit', limit, max: 4 } },
    ])
    expect((await session.post(calls(4, 'hi'))).status).toBe(200)
  },
)
