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
