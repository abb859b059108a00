/** What `/metrics` says about the store that replicas share. */

import { expect, onTestFinished, test, vi } from 'vitest'
import { randomId } from '../../../../src/base/bytes.ts'
import { redis } from '../../../../src/redis/index.ts'
import { memoryStore, type SharedStore } from '../../../../src/store/index.ts'
import { http } from '../../../support/http-requests.ts'
import { callTool, openSession, serve, testServer, until, WATCHED } from '../../../support/http-service.ts'
import { startRedis } from '../../../support/redis-server.ts'
import { serveReplicas } from '../../../support/replicas.ts'

async function scrape(url: string): Promise<(name: string) => number | undefined> {
  const { text } = await http(new URL('/metrics', url).href, { method: 'GET', isBare: true })
  return (name) => {
    const line = text.split('\n').find((each) => each.startsWith(`${name} `))
    return line === undefined ? undefined : Number(line.slice(name.length + 1))
  }
}

async function measured(store: SharedStore): Promise<string> {
  const { url } = await serve(testServer(), { store, metrics: true })
  onTestFinished(() => store.close())
  const session = await openSession(url, '2025-11-25')
  expect((await session.ask(callTool('hi'))).status).toBe(200)
  return url
}

test('the sessions and the lease of a store in memory are shown, and no commands', async () => {
  const metric = await scrape(await measured(memoryStore()))
  expect([metric('portico_store_up'), metric('portico_replica_lease_held'), metric('portico_store_sessions')]).toEqual([1, 1, 1])
  expect(metric('portico_store_operations_total')).toBeUndefined()
})

test('each replica says that the sessions of all nearly reach their limit', async () => {
  const { urls } = await serveReplicas(() => testServer(), { health: true, limits: { maxSessions: 4 } })
  for (let i = 0; i < 4; i++) await openSession(urls[0] as string, '2025-11-25')
  for (const url of urls) {
    const { status, message } = await http(new URL('/readyz', url).href, { method: 'GET', isBare: true })
    expect([status, message.checks.capacity]).toEqual([
      200,
      { status: 'degraded', reason: '4 of 4 sessions of all replicas (limits.maxSessions)' },
    ])
  }
})

test('the events that a store in memory keeps are shown, and are gone with their session', async () => {
  const url = await measured(memoryStore())
  const session = await openSession(url, '2025-11-25')
  const before = (await scrape(url))('portico_kept_event_bytes')
  const stream = await session.askStream(callTool('hi', {}, WATCHED), { accept: 'text/event-stream' })
  await stream.messages()
  await until(async () => ((await scrape(url))('portico_kept_event_bytes') ?? 0) > 50)
  await session.end()
  await until(async () => (await scrape(url))('portico_kept_event_bytes') === before)
})

test('a store whose health cannot be read fails the scrape, and nothing else', async () => {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const url = await measured({
    ...memoryStore(),
    health: () => {
      throw new Error('This store has a fault')
    },
  })
  expect(await http(new URL('/metrics', url).href, { method: 'GET', isBare: true })).toMatchObject({ status: 500 })
  expect(errors.mock.calls.flat().join()).toContain('/metrics failed:')
  errors.mockRestore()
})

test('commands to Redis are counted and measured, and a Redis that is gone is shown', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const redisServer = await startRedis()
  onTestFinished(() => redisServer.close())
  const url = await measured(redis(redisServer.url, { prefix: `${randomId()}:`, leaseMs: 500, timeoutMs: 200 }))
  const metric = await scrape(url)
  expect(metric('portico_store_operations_total{operation="enter-session",outcome="ok"}')).toBeGreaterThanOrEqual(1)
  expect(metric('portico_store_operation_duration_seconds_count{operation="enter-session"}')).toBeGreaterThanOrEqual(1)
  expect([metric('portico_store_up'), metric('portico_replica_lease_held'), metric('portico_store_sessions')]).toEqual([1, 1, 1])
  await redisServer.stop('SIGKILL')
  await until(async () => (await scrape(url))('portico_replica_lease_held') === 0)
  const down = await scrape(url)
  expect([down('portico_store_up'), down('portico_store_sessions')]).toEqual([0, undefined])
  expect(down('portico_store_operations_total{operation="renew-lease",outcome="down"}')).toBeGreaterThanOrEqual(1)
})
