/** Whether a replica gets requests while Redis cannot be used. */

import { expect, onTestFinished, test, vi } from 'vitest'
import { randomId } from '../../src/base/bytes.ts'
import { redis } from '../../src/redis/index.ts'
import { askModern, callTool, serve, testServer, until } from '../support/http-service.ts'
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

test.each(['hset', 'evalsha'])(
  'while Redis refuses %s the replica says so, and requests get 503',
  async (command) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const redisServer = await server()
    onTestFinished(async () => {
      vi.restoreAllMocks()
      await redisServer.cli('ACL', 'SETUSER', 'default', `+${command}`)
    })
    const store = redis(redisServer.url, { prefix: `${randomId()}:`, leaseMs: 1000, timeoutMs: 1000 })
    const { url, close } = await serve(testServer(), { store, health: true, metrics: true })
    const isUp = async (): Promise<boolean> => /^portico_store_up 1$/m.test(await metrics())
    const metrics = async (): Promise<string> => (await fetch(new URL('/metrics', url))).text()
    // A lease: then each script of a renewal was sent twice, so that Redis is asked for it by its digest.
    await until(async () => (await askModern(url, callTool('hi'))).status === 200)
    await until(async () => (await statusOf(url)) === '200 ok' && (await isUp()))
    await redisServer.cli('ACL', 'SETUSER', 'default', `-${command}`)
    await until(async () => (await statusOf(url)) === '200 degraded' && !(await isUp()))
    await until(async () => (await askModern(url, callTool('hi'))).status === 503)
    const refused = await askModern(url, callTool('hi'))
    expect(refused.headers['retry-after']).toBe('2')
    expect(refused.message).toMatchObject({ error: { data: { reason: 'store_down', retryable: true } } })
    await until(() => log.mock.calls.flat().join().includes('Redis refused a command: '))
    expect(await statusOf(url)).toBe('200 degraded')
    await redisServer.cli('ACL', 'SETUSER', 'default', `+${command}`)
    await until(async () => (await askModern(url, callTool('hi'))).status === 200 && (await statusOf(url)) === '200 ok')
    await close()
    await store.close()
  },
  30_000,
)
