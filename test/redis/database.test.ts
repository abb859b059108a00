/** A database that cannot be selected. The client library would go on in database 0, which may belong to another server. */

import { afterEach, expect, test, vi } from 'vitest'
import { createClient } from '../../src/redis/client-library.ts'
import { type RedisOptions, type RedisStore, redis } from '../../src/redis/index.ts'
import { readTarget } from '../../src/redis/target.ts'
import { http } from '../support/http-requests.ts'
import { initializeMessage, serve, testServer } from '../support/http-service.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const server = redisOfFile(['--databases', '4'])
const OUT_OF_RANGE = 'No connection to Redis: ERR DB index is out of range'
const LIFE = { ttlMs: 60_000, maxAgeMs: 60_000 }

const opened: RedisStore[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
  await (await server()).cli('ACL', 'SETUSER', 'default', 'reset', 'on', 'nopass', '~*', '&*', '+@all')
})

async function openStore(path: string, options: RedisOptions = {}): Promise<RedisStore> {
  const store = redis(`${(await server()).url}${path}`, { timeoutMs: 500, ...options })
  opened.push(store)
  return store
}

test.each([
  ['in the URL', '/99', {}],
  ['in the options of the connection', '', { connection: { db: 99 } }],
])('a database that does not exist, %s, is not replaced by another', async (_, path, options) => {
  const store = await openStore(path, options)
  const { url } = await serve(testServer(), { store, health: true })
  await expect(store.sessions.create('s', '{}', LIFE)).rejects.toMatchObject({ code: 'ERR_STORE_DOWN', message: OUT_OF_RANGE })
  await expect(store.replica.join()).rejects.toMatchObject({ code: 'ERR_STORE_DOWN' })
  expect(store.health()).toBe(OUT_OF_RANGE)
  const readiness = await (await fetch(new URL('/readyz', url))).json()
  expect(readiness).toMatchObject({ status: 'down', checks: { store: { status: 'down', reason: OUT_OF_RANGE } } })
  expect((await http(url, { body: initializeMessage('2025-11-25') })).status).toBe(503)
  expect(await (await server()).scan()).toEqual([])
})

test('a database that does not exist is not replaced with the oldest client library either', async () => {
  vi.resetModules()
  vi.doMock('ioredis', () => import('ioredis-v5'))
  const { redis: withOlder } = await import('../../src/redis/index.ts')
  const store = withOlder(`${(await server()).url}/99`, { timeoutMs: 500 })
  opened.push(store)
  await expect(store.sessions.create('s', '{}', LIFE)).rejects.toMatchObject({ code: 'ERR_STORE_DOWN', message: OUT_OF_RANGE })
  expect(await (await server()).scan()).toEqual([])
  vi.doUnmock('ioredis')
})

test('a connection that blocks does not go on in database 0 either', async () => {
  const client = await createClient(readTarget(`${(await server()).url}/99`), { timeoutMs: 500, connection: {} }, 2000)
  const states: string[] = []
  client.on('ready', () => states.push('ready'))
  client.on('close', () => states.push('close'))
  client.on('error', () => {})
  await client.connect().catch(() => {})
  await until(() => states.length > 1)
  client.disconnect()
  expect(states).not.toContain('ready')
})

test('a database that may not be selected after a reconnect is not replaced, until it may again', async () => {
  const { cli } = await server()
  const store = await openStore('/2')
  await store.sessions.create('first', '{}', LIFE)
  await cli('ACL', 'SETUSER', 'default', '-select')
  await cli('CLIENT', 'KILL', 'TYPE', 'normal')
  await until(() => store.health()?.includes('NOPERM') === true)
  await expect(store.sessions.create('second', '{}', LIFE)).rejects.toMatchObject({ code: 'ERR_STORE_DOWN' })
  await cli('ACL', 'SETUSER', 'default', '+select')
  await until(() => store.health() === undefined)
  await store.sessions.create('third', '{}', LIFE)
  expect(await cli('DBSIZE')).toBe('0')
  expect(Number(await cli('-n', '2', 'DBSIZE'))).toBeGreaterThan(1)
})

test('a cluster has no database to choose', () => {
  expect(() => redis('redis-cluster://127.0.0.1:1', { connection: { db: 3 } })).toThrow('A cluster has no databases: remove connection.db')
})
