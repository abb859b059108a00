/** What an operator of replicas relies on: a secret can be replaced, wrong keys are noticed, and replicas end without a pause. */

import { Redis } from 'ioredis'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { redis } from '../../src/redis/index.ts'
import { keyRing } from '../../src/server/index.ts'
import { http } from '../support/http-requests.ts'
import { askModern, callTool, openSession, serve, sessionAt, testServer } from '../support/http-service.ts'
import { redisOfFile } from '../support/redis-server.ts'

const server = redisOfFile()
const [first, second] = ['the first secret, of 32 characters', 'the second secret, of 32 characters']
const GET = { method: 'GET' } as const

afterEach(() => void vi.restoreAllMocks())

interface Replica {
  url: string
  close(): Promise<void>
}

async function replica(url: string, prefix: string, secrets: readonly string[], limits = {}): Promise<Replica> {
  const keys = keyRing(secrets)
  const store = redis(url, { prefix, keys, leaseMs: 1000 })
  const listening = await serve(testServer({ keys }), { store, health: true, limits })
  const close = async (): Promise<void> => {
    await listening.close()
    await store.close()
  }
  return { url: listening.url, close }
}

test('sessions live on and begin through all steps in which a secret is replaced', async () => {
  const { url } = await server()
  let kept: { id: string; headers: Record<string, string> } | undefined
  for (const secrets of [[first], [first, second], [second, first], [second]]) {
    const { url: at, close } = await replica(url, 'rotated:', secrets)
    // The record of a session is sealed again only when it changes, so the last step has sessions of its own.
    if (kept && secrets.length > 1) expect((await sessionAt(at, kept.id, kept.headers).ask(callTool('hi'))).status).toBe(200)
    const session = await openSession(at, '2025-11-25')
    expect((await session.ask(callTool('hi'))).status).toBe(200)
    kept = session
    await close()
  }
}, 30_000)

test('a replica with other keys than the rest gets no requests, and says why', async () => {
  const { url } = await server()
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const right = await replica(url, 'wrong:', [first])
  expect((await http(new URL('/readyz', right.url).href, GET)).status).toBe(200)
  const wrong = await replica(url, 'wrong:', [second])
  expect(await http(new URL('/readyz', wrong.url).href, GET)).toMatchObject({
    status: 503,
    message: { status: 'down', checks: { keys: { status: 'down', reason: expect.stringContaining('Give all replicas the same keys') } } },
  })
  expect((await http(new URL('/readyz', right.url).href, GET)).message).toMatchObject({ checks: { keys: { status: 'ok' } } })
  await Promise.all([right.close(), wrong.close()])
}, 30_000)

test('without the old secret a replica is ready with another prefix at once, and with the same one later', async () => {
  const { url } = await server()
  const limits = { sessionIdleMs: 1000 }
  const old = await replica(url, 'lost:', [first], limits)
  expect((await openSession(old.url, '2025-11-25')).id).toBeDefined()
  await old.close()
  const [same, other] = [await replica(url, 'lost:', [second], limits), await replica(url, 'found:', [second], limits)]
  const checksOf = async ({ url: at }: Replica) => (await http(new URL('/readyz', at).href, GET)).message.checks
  const reason = expect.stringMatching(/same keys\. If nobody has the old ones any more, use another storePrefix, or wait for 1 min$/)
  expect(await checksOf(same)).toMatchObject({ keys: { status: 'down', reason } })
  expect(await checksOf(other)).toMatchObject({ keys: { status: 'ok' } })
  await expect.poll(() => checksOf(same), { timeout: 10_000 }).toMatchObject({ keys: { status: 'ok' } })
  expect((await openSession(same.url, '2025-11-25')).id).toBeDefined()
  await Promise.all([same.close(), other.close()])
}, 30_000)

test('each connection is closed once, because ioredis waits two seconds for one that has ended', async () => {
  const { url } = await server()
  const disconnect = vi.spyOn(Redis.prototype, 'disconnect')
  const sent = vi.spyOn(Redis.prototype, 'callBuffer')
  const store = redis(url, { prefix: 'closed:' })
  await store.replica.join()
  await expect.poll(() => sent.mock.calls.some(([name]) => name === 'XREAD')).toBe(true)
  await store.close()
  const closed = disconnect.mock.contexts
  expect(closed).toHaveLength(2)
  expect(new Set(closed).size).toBe(2)
  await expect.poll(() => closed.every((client) => (client as Redis).status === 'end')).toBe(true)
  // The loop that reads messages goes on when its command has failed.
  await new Promise((resolve) => setImmediate(resolve))
  expect(disconnect).toHaveBeenCalledTimes(2)
})

test('an expired session counts a tenth of its life longer, at most', async () => {
  const { url, scan } = await server()
  const idleMs = 60_000
  const store = redis(url, { prefix: 'counted:' })
  const { url: at } = await serve(testServer(), { store, limits: { sessionIdleMs: idleMs } })
  onTestFinished(() => store.close())
  await openSession(at, '2025-11-25')
  const topics = (await scan()).filter((key) => key.startsWith('counted:topic:'))
  const client = new Redis(url)
  const now = Date.now()
  const lives = await Promise.all(topics.map(async (topic) => Number((await client.zrange(topic, '0', '-1', 'WITHSCORES'))[1]) - now))
  client.disconnect()
  expect(lives.length).toBeGreaterThanOrEqual(3)
  for (const life of lives) {
    expect(life).toBeLessThanOrEqual(idleMs * 1.1)
    expect(life).toBeGreaterThan(idleMs)
  }
})

test('a replica that ends sends its clients to the others after a second', async () => {
  const { url } = await server()
  const store = redis(url, { prefix: 'ending:' })
  const { url: at, handler } = await serve(testServer(), { store })
  onTestFinished(() => store.close())
  const session = await openSession(at, '2025-11-25')
  await handler.drain(0)
  const refused = await Promise.all([
    askModern(at, callTool('hi')),
    session.ask(callTool('hi')),
    http(at, { method: 'GET', headers: session.headers }),
  ])
  expect(refused.map(({ status, headers }) => [status, headers['retry-after']])).toEqual(refused.map(() => [503, '1']))
})
