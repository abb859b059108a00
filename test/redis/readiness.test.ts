/** Whether a replica gets requests while Redis cannot be used. */

import { expect, onTestFinished, test, vi } from 'vitest'
import { randomId } from '../../src/base/bytes.ts'
import { redis } from '../../src/redis/index.ts'
import { serve, testServer, until } from '../support/http-service.ts'
import { redisOfFile } from '../support/redis-server.ts'

const server = redisOfFile()

async function statusOf(url: string): Promise<string> {
  const response = await fetch(new URL('/readyz', url))
  const { checks } = (await response.json()) as { checks: { store: { status: string } } }
  return `${response.status} ${checks.store.status}`
}

test('a replica is down until it has reached its store, and degraded while the store is away later', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => void vi.restoreAllMocks())
  const redisServer = await server()
  await redisServer.stop('SIGKILL')
  const store = redis(redisServer.url, { prefix: `${randomId()}:`, leaseMs: 1000, timeoutMs: 200 })
  const { url, close } = await serve(testServer(), { store, health: true })
  expect(await statusOf(url)).toBe('503 down')
  await redisServer.start()
  await until(async () => (await statusOf(url)) === '200 ok')
  await until(() => store.replica.isHeld)
  await redisServer.stop('SIGKILL')
  await until(async () => (await statusOf(url)) === '200 degraded')
  await redisServer.start()
  await until(async () => (await statusOf(url)) === '200 ok')
  await close()
  await store.close()
}, 30_000)
