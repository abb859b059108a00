/** The stream of a shared session that belongs to no request, and clients that come back to it. */

import { describe, expect, test } from 'vitest'
import type { SharedStore } from '../../../../src/store/index.ts'
import { type HttpSession, openSession, sessionAt, testServer, until } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { type Replicas, serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const redisServer = redisOfFile()

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(redisServer, 10_000)],
]

const at = (url: string | undefined, { id, headers }: HttpSession): HttpSession => sessionAt(url as string, id, headers)

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  test('a client whose first notice was read but never written gets it elsewhere', async () => {
    const stores = await storesOf(2)
    const { urls, servers } = await serveReplicas(() => testServer(), { count: 2, stores })
    const { streams } = stores[0] as SharedStore
    const { read } = streams
    let isStuck = false
    let hasRead = false
    // As a process that is killed between the reply of the store and the write to its client.
    streams.read = async (...args) => {
      const found = await read(...args)
      if (!isStuck) return found
      hasRead ||= typeof found === 'object' && found.events.length > 0
      return new Promise(() => {})
    }
    const session = await openSession(urls[0] as string, '2025-11-25')
    const standing = await session.listen()
    await until(() => standing.events.length > 0)
    isStuck = true
    servers[1]?.tool('new', {}, () => 'new')
    await until(() => hasRead)
    standing.destroy()
    const resumed = await at(urls[1], session).listen(standing.events.at(-1)?.id)
    expect(await resumed.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
  })

  test('a stream of 2025-11-25 begins with an id, after the notices that a client has read before', async () => {
    const { urls, servers } = await serveReplicas(() => testServer(), { count: 2, stores: await storesOf(2) })
    const session = await openSession(urls[0] as string, '2025-11-25')
    const first = await session.listen()
    servers[1]?.tool('one', {}, () => 1)
    await first.message()
    first.destroy()
    const second = await at(urls[1], session).listen()
    await until(() => second.events.length > 0)
    expect(second.events).toEqual([expect.objectContaining({ id: first.events.at(-1)?.id, data: '' })])
    servers[0]?.tool('two', {}, () => 2)
    await second.message()
    const again = await at(urls[0], session).listen(second.events[0]?.id)
    expect(await again.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
    expect(again.events).toHaveLength(1)
  })

  test('a handler that is made again for the same store tells the sessions of the one before', async () => {
    const [store] = (await storesOf(1)) as [SharedStore]
    const first = await serveReplicas(() => testServer(), { count: 1, stores: [store] })
    const session = await openSession(first.url, '2025-11-25')
    const told = async ({ url, servers }: Replicas, tool: string): Promise<void> => {
      const standing = await at(url, session).listen()
      servers[0]?.tool(tool, {}, () => 1)
      expect(await standing.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
      standing.destroy()
    }
    for (const tool of ['one', 'two']) await told(first, tool)
    await first.handlers[0]?.close()
    await told(await serveReplicas(() => testServer(), { count: 1, stores: [store] }), 'three')
  })

  test('two endpoints with one store in one process tell the same sessions', async () => {
    const [store] = (await storesOf(1)) as [SharedStore]
    const { urls, servers } = await serveReplicas(() => testServer(), { count: 2, stores: [store, store] })
    const session = await openSession(urls[0] as string, '2025-11-25')
    const standing = await session.listen()
    for (const [at, tool] of [0, 0, 0, 1, 0, 1, 1].entries()) {
      servers[tool]?.tool(`tool-${at}`, {}, () => 1)
      expect(await standing.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
    }
  })

  test('a stream of an older revision does not begin with an id, because its clients take it for a message', async () => {
    const { urls, servers } = await serveReplicas(() => testServer(), { count: 2, stores: await storesOf(2) })
    const session = await openSession(urls[0] as string, '2025-06-18')
    const standing = await session.listen()
    servers[1]?.tool('new', {}, () => 'new')
    await standing.message()
    expect(standing.events).toHaveLength(1)
  })
})
