/** What the log says of an outage of Redis, and of wrong keys. */

import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest'
import { randomId } from '../../src/base/bytes.ts'
import { redis } from '../../src/redis/index.ts'
import { keyRing } from '../../src/server/index.ts'
import { openSession, testServer, until } from '../support/http-service.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { type Replicas, serveReplicas } from '../support/replicas.ts'

const server = redisOfFile()

let log: MockInstance<typeof console.error>
beforeEach(() => {
  log = vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => void vi.restoreAllMocks())

const lines = (): string[] => log.mock.calls.map((words) => words.join(' '))

test('the log says when Redis can be used again, once', async () => {
  const redisServer = await server()
  const store = redis(redisServer.url, { prefix: `${randomId()}:`, leaseMs: 1000, timeoutMs: 200 })
  await serveReplicas(() => testServer(), { count: 1, stores: [store] })
  await store.replica.join()
  await until(() => lines().length > 0)
  expect(lines()).toEqual([`portico: this replica is ${store.replica.id}`])
  await redisServer.stop('SIGKILL')
  await until(() => lines().some((line) => line.startsWith('portico: store: ')))
  await redisServer.start()
  const back = (): string[] => lines().filter((line) => /^portico: Redis can be used again after \d+ s$/.test(line))
  await until(() => back().length > 0)
  await until(() => store.replica.isHeld)
  expect(back()).toHaveLength(1)
  // The replica that joins again has another name.
  await until(() => lines().includes(`portico: this replica is ${store.replica.id}`))
})

test('the log also says so after Redis was full', async () => {
  const { url, cli } = await server()
  const store = redis(url, { prefix: `${randomId()}:`, leaseMs: 10_000 })
  await serveReplicas(() => testServer(), { count: 1, stores: [store] })
  await store.replica.join()
  await cli('CONFIG', 'SET', 'maxmemory', '1')
  const add = (): Promise<void> => store.topics.add('topic', 'member', 1000)
  await expect(add()).rejects.toThrow('OOM')
  // Commands that only read go on meanwhile.
  await store.topics.sample('topic', 1)
  await cli('CONFIG', 'SET', 'maxmemory', '0')
  await store.topics.sample('topic', 1)
  expect(lines().filter((line) => line.includes('again'))).toEqual([])
  await add()
  expect(lines().filter((line) => line.includes('again'))).toEqual(['portico: Redis can be used again after 1 s'])
})

test('a replica with other keys than the rest says so when it starts', async () => {
  const { url } = await server()
  const prefix = `${randomId()}:`
  const [first, second] = ['the first secret, of 32 characters', 'the second secret, of 32 characters'].map((secret) => keyRing(secret))
  const start = (keys = first): Promise<Replicas> => {
    const stores = [redis(url, { prefix, leaseMs: 1000, ...(keys && { keys }) })]
    return serveReplicas(() => testServer({ ...(keys && { keys }) }), { count: 1, stores })
  }
  // Now the store has a value that the other one cannot open.
  await openSession((await start()).url, '2025-11-25')
  const faults = (): string[] => lines().filter((line) => !line.startsWith('portico: this replica is'))
  expect(faults()).toEqual([])
  await start(second)
  await until(() => faults().length > 0)
  expect(faults()).toEqual([
    expect.stringMatching(
      /^portico: store: A value in Redis \(the secret of session ids\) was sealed .*: the secret differs from that of the other replicas, or was removed too early\. Give all replicas the same keys$/,
    ),
  ])
})

test('the log warns once of a Redis that removes keys when its memory is full', async () => {
  const { url, cli } = await server()
  await cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  const store = redis(url, { prefix: `${randomId()}:` })
  await store.replica.join()
  await until(() => lines().length > 0)
  await cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  await store.close()
  expect(lines()).toEqual([expect.stringContaining('(maxmemory-policy allkeys-lru). Set it to noeviction')])
})

test('a user that may not use the keys is told how they begin', async () => {
  const { url, cli } = await server()
  await cli('ACL', 'SETUSER', 'other', 'on', '>password', '~other:*', '+@all')
  const store = redis(url.replace('//', '//other:password@'), { prefix: 'mine:' })
  await expect(store.replica.join()).rejects.toThrow('(all keys begin with "mine:")')
  await store.close()
})

test('a connection with TLS to a port without it says what may be wrong', async () => {
  const { url } = await server()
  const store = redis(url.replace('redis:', 'rediss:'), { timeoutMs: 300 })
  await store.replica.join().catch(() => {})
  await until(() => store.health()?.includes('does the port speak TLS?') === true)
  await store.close()
})
