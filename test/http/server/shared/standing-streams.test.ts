/** The stream of a shared session that belongs to no request, and clients that come back to it. */

import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { FIXED_HTTP_LIMITS } from '../../../../src/http/server/fixed-limits.ts'
import { CallerUsage } from '../../../../src/http/server/limits/caller-usage.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../../src/http/server/options.ts'
import { boundsOf } from '../../../../src/http/server/shared/log-bounds.ts'
import { StreamReaders } from '../../../../src/http/server/shared/stream-readers.ts'
import { McpError } from '../../../../src/protocol/errors.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { STANDING_STREAM } from '../../../../src/store/stream-logs.ts'
import { gate, type HttpSession, openSession, STREAMABLE, sessionAt, testServer, until } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { type Replicas, serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'
import { TestReply } from '../test-sink.ts'

const redisServer = redisOfFile()

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(redisServer, 10_000)],
]

const at = (url: string | undefined, { id, headers }: HttpSession): HttpSession => sessionAt(url as string, id, headers)

/** The store does what it is told once more, but the first reply that is `lost` never comes. */
function loseReply(store: SharedStore | undefined, name: 'read' | 'attach', isLost: (reply: { events: unknown[] }) => boolean) {
  const { streams } = store as SharedStore
  const command = streams[name] as (...args: unknown[]) => Promise<{ events: unknown[] }>
  const lost = { count: 0 }
  Object.assign(streams, {
    [name]: async (...args: unknown[]) => {
      const reply = await command(...args)
      if (lost.count > 0 || !isLost(reply)) return reply
      lost.count++
      throw new McpError('ERR_STORE_DOWN', 'The reply was lost')
    },
  })
  return lost
}

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

  test.each(STREAMABLE)('a notice of %s comes although the reply with it was lost', async (version) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const stores = await storesOf(2)
    const { urls, servers } = await serveReplicas(() => testServer(), { count: 2, stores })
    const session = await openSession(urls[0] as string, version)
    const standing = await session.listen()
    const lost = loseReply(stores[0], 'read', ({ events }) => events.length > 0)
    servers[1]?.tool('one', {}, () => 1)
    await until(() => lost.count === 1)
    servers[1]?.tool('two', {}, () => 2)
    for (const _ of ['one', 'two']) expect(await standing.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
  })

  test.each(STREAMABLE)('a notice of %s comes with the next GET if the first one got no reply of the store', async (version) => {
    const stores = await storesOf(2)
    const { urls, servers } = await serveReplicas(() => testServer(), { count: 2, stores })
    const session = await openSession(urls[0] as string, version)
    const { streams } = stores[1] as SharedStore
    const { append } = streams
    const appended = gate()
    streams.append = async (...args) => {
      const reply = await append(...args)
      appended.open()
      return reply
    }
    servers[1]?.tool('new', {}, () => 'new')
    await appended.opened
    loseReply(stores[0], 'attach', () => true)
    expect((await session.listen()).status).toBe(503)
    expect(await (await session.listen()).message()).toMatchObject({ method: 'notifications/tools/list_changed' })
  })

  test('a stream counts for its address, also if the store was slow to open it', async () => {
    const stores = await storesOf(1)
    const limits = { maxStreamsPerAddress: 1, streamAfterMs: 80 }
    const { url, handlers } = await serveReplicas(() => testServer(), { count: 1, stores, limits })
    const sessions = [await openSession(url, '2025-11-25'), await openSession(url, '2025-11-25')]
    const { streams } = stores[0] as SharedStore
    const { attach } = streams
    const [begun, go] = [gate(), gate()]
    streams.attach = async (...args) => {
      begun.open()
      await go.opened
      return attach(...args)
    }
    const first = sessions[0]?.listen()
    await begun.opened
    // Nothing of this address is in use for now, so its count is thrown away.
    await until(() => handlers[0]?.counts.callers === 0)
    go.open()
    expect((await first)?.status).toBe(200)
    expect((await sessions[1]?.listen())?.status).toBe(429)
  })

  test.each(STREAMABLE)('a notice of %s is not read for a client that is gone', async (version) => {
    const [store] = (await storesOf(1)) as [SharedStore]
    onTestFinished(() => store.close())
    const limits = { ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS }
    await store.sessions.create('s', '{}', { ttlMs: 60_000, maxAgeMs: 60_000 })
    await store.streams.append('s', STANDING_STREAM, { n: 1, events: [{ json: '"new"' }] }, boundsOf(limits))
    const services = { store, limits, open: { size: 0 }, inFlight: { checkStreams: () => undefined }, tails: { others: () => 0 } }
    const readers = new StreamReaders(services as never, {} as never, () => new CallerUsage('address', 'a'))
    const reply = new TestReply()
    const { attach } = store.streams
    store.streams.attach = async (...args) => {
      const attached = await attach(...args)
      reply.leave()
      return attached
    }
    const record = { principal: undefined, eventName: 'e', caller: '', state: { version } as never }
    await readers.read({ sid: 's', record, revision: 1 }, { header: () => undefined } as never, reply)
    expect(await attach('s', STANDING_STREAM, undefined, 10)).toMatchObject({ events: [{ json: '"new"' }] })
  })
})
