import { describe, expect, test } from 'vitest'
import { ResponseCache } from '../../src/client/cache.ts'
import { Client } from '../../src/client/client.ts'
import type { ConnectOptions } from '../../src/client/options.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { proves } from '../support/proves.ts'
import type { Message } from '../support/raw-channel.ts'
import { type Behaviour, cannedServer } from '../support/scripted-server.ts'

const read = (hints: object) => (params: Message) => ({ contents: [{ uri: params.uri, text: 'x' }], ...hints })
const connect = async (results: NonNullable<Behaviour['results']>, options: ConnectOptions = {}) => {
  const clock = fakeClock()
  const server = cannedServer({
    revision: '2026-07-28',
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: {} },
    results,
  })
  const client = await Client.connect(server.target, { clock, ...options })
  const count = (method: string) => server.received.filter((message) => message.method === method).length
  return { client, server, clock, count }
}

describe('a response', () => {
  test('a response is used again for as long as the server said, and no longer', async () => {
    proves('R-CACHE-007', 'R-CACHE-008', 'R-CACHE-012')
    const { client, clock, count } = await connect({ 'resources/read': read({ ttlMs: 1000, cacheScope: 'private' }) })
    for (let i = 0; i < 3; i++) await client.read('a:1')
    expect(count('resources/read')).toBe(1)
    await clock.advance(999)
    await client.read('a:1')
    expect(count('resources/read')).toBe(1)
    await clock.advance(1)
    await client.read('a:1')
    expect(count('resources/read')).toBe(2)
  })

  test('a response that says nothing, zero, a negative number or nonsense is not kept', async () => {
    proves('R-CACHE-007')
    for (const hints of [{}, { ttlMs: 0 }, { ttlMs: -5 }, { ttlMs: 'long' }, { ttlMs: Number.NaN }]) {
      const { client, count } = await connect({ 'resources/read': read(hints) })
      for (let i = 0; i < 2; i++) await client.read('a:1')
      expect(count('resources/read')).toBe(2)
    }
  })

  test('a response serves only the same method with the same parameters', async () => {
    proves('R-CACHE-003')
    const { client, count } = await connect({
      'resources/read': read({ ttlMs: 1000, cacheScope: 'public' }),
      'tools/call': { content: [], ttlMs: 1000 },
    })
    await client.read('a:1')
    await client.read('a:2')
    await client.read('a:1', { meta: { traceparent: 'x' } })
    expect(count('resources/read')).toBe(2)
    for (let i = 0; i < 2; i++) await client.call('t')
    expect(count('tools/call')).toBe(2)
  })

  test('each page of a list is cached separately', async () => {
    proves('R-CACHE-003', 'R-CACHE-019')
    const { client, count } = await connect({
      'tools/list': ({ cursor }) => ({
        tools: [],
        ttlMs: cursor === undefined ? 1000 : 0,
        cacheScope: 'public',
        ...(cursor === undefined ? { nextCursor: 'b' } : {}),
      }),
    })
    await client.tools().all()
    await client.tools().all()
    expect(count('tools/list')).toBe(3)
  })

  test('a response is forgotten when a notice says that it changed', async () => {
    proves('R-CACHE-018')
    const { client, server, count } = await connect({
      'tools/list': { tools: [], ttlMs: 60_000, cacheScope: 'public' },
      'resources/list': { resources: [], ttlMs: 60_000, cacheScope: 'public' },
      'resources/read': read({ ttlMs: 60_000, cacheScope: 'public' }),
      'subscriptions/listen': (params, { id }) => {
        server.send({
          jsonrpc: '2.0',
          method: 'notifications/subscriptions/acknowledged',
          params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id }, notifications: params.notifications },
        })
        return undefined
      },
    })
    await client.onChange('tools', () => {})
    const listenId = server.received.at(-1)?.id
    const notify = async (method: string, params = {}) => {
      server.send({ jsonrpc: '2.0', method, params: { ...params, _meta: { 'io.modelcontextprotocol/subscriptionId': listenId } } })
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const all = async () => {
      await client.tools().all()
      await client.resources().all()
      await client.read('a:1')
      await client.read('a:2')
      return [count('tools/list'), count('resources/list'), count('resources/read')]
    }
    expect(await all()).toEqual([1, 1, 2])
    await notify('notifications/tools/list_changed')
    expect(await all()).toEqual([2, 1, 2])
    await notify('notifications/resources/updated', { uri: 'a:1' })
    expect(await all()).toEqual([2, 1, 3])
    await notify('notifications/resources/list_changed')
    expect(await all()).toEqual([2, 2, 3])
  })
})

describe('a cache that clients share', () => {
  test('a shared cache gives public responses to all clients and private ones to their own partition', async () => {
    proves('R-CACHE-014', 'R-CACHE-015', 'R-CACHE-016')
    const cache = new ResponseCache()
    const counts = { public: 0, private: 0 }
    const newServer = () =>
      cannedServer(
        {
          revision: '2026-07-28',
          capabilities: { resources: {} },
          results: {
            'resources/read': ({ uri }) => ({
              contents: [],
              ttlMs: 60_000,
              ...(uri === 'a:public' ? { cacheScope: 'public' } : {}),
              n: ++counts[uri === 'a:public' ? 'public' : 'private'],
            }),
          },
        },
        { key: 'one server' },
      )
    const alice = await Client.connect(newServer().target, { cache, cachePartition: 'alice' })
    const bob = await Client.connect(newServer().target, { cache, cachePartition: 'bob' })
    for (const client of [alice, bob, alice, bob]) for (const uri of ['a:public', 'a:private']) await client.read(uri)
    expect(counts).toEqual({ public: 1, private: 2 })
    const anonymous = await Client.connect(newServer().target, { cache })
    await anonymous.read('a:private')
    expect(counts.private).toBe(3)
  })

  test('a shared cache keeps servers apart', async () => {
    const cache = new ResponseCache()
    const make = () =>
      cannedServer({
        revision: '2026-07-28',
        capabilities: { resources: {} },
        results: { 'resources/read': read({ ttlMs: 60_000, cacheScope: 'public' }) },
      })
    const [one, two] = [make(), make()]
    await (await Client.connect(one.target, { cache })).read('a:1')
    await (await Client.connect(two.target, { cache })).read('a:1')
    expect(two.received.filter(({ method }) => method === 'resources/read')).toHaveLength(1)
  })

  test('a shared cache holds maxEntries, drops the oldest first, and false turns it off', async () => {
    const cache = new ResponseCache({ maxEntries: 2 })
    const { client, count } = await connect(
      { 'resources/read': read({ ttlMs: 1000, cacheScope: 'public' }) },
      { cache, clock: fakeClock() },
    )
    for (const uri of ['a:1', 'a:2', 'a:3', 'a:3', 'a:2', 'a:1']) await client.read(uri)
    expect(count('resources/read')).toBe(4)
    const renewing = new ResponseCache({ maxEntries: 2, clock: fakeClock() })
    const scope = { server: 's', partition: 'p' }
    for (const uri of ['a:1', 'a:2', 'a:2']) renewing.put('resources/read', { uri }, { ttlMs: 1000, uri }, scope)
    // What takes the place of its own older entry takes nobody else's.
    expect(['a:1', 'a:2'].map((uri) => renewing.get('resources/read', { uri }, scope)?.uri)).toEqual(['a:1', 'a:2'])
    const clock = fakeClock()
    const ageing = new ResponseCache({ maxEntries: 2, clock })
    for (const [uri, ttlMs] of [
      ['a:1', 1000],
      ['a:2', 10],
    ] as const)
      ageing.put('resources/read', { uri }, { ttlMs, uri }, scope)
    await clock.advance(10)
    expect(ageing.get('resources/read', { uri: 'a:2' }, scope)).toBeUndefined()
    // What is too old was dropped when it was looked at, so there is room.
    ageing.put('resources/read', { uri: 'a:3' }, { ttlMs: 1000, uri: 'a:3' }, scope)
    expect(ageing.get('resources/read', { uri: 'a:1' }, scope)?.uri).toBe('a:1')
    const without = await connect({ 'resources/read': read({ ttlMs: 1000 }) }, { cache: false })
    for (let i = 0; i < 2; i++) await without.client.read('a:1')
    expect(without.count('resources/read')).toBe(2)
  })
})

describe('time to live', () => {
  test('a time to live does not cause polling: nothing is fetched before it is needed', async () => {
    proves('R-CACHE-009')
    const { client, clock, count } = await connect({ 'resources/read': read({ ttlMs: 1000, cacheScope: 'private' }) })
    await client.read('a:1')
    for (let i = 0; i < 10; i++) await clock.advance(10_000)
    expect(count('resources/read')).toBe(1)
  })
})

test('a response to a request that carries answers or state is not kept', async () => {
  proves('R-CACHE-004')
  const { client, count } = await connect({ 'resources/read': read({ ttlMs: 1000, cacheScope: 'public' }) })
  for (const additions of [{ inputResponses: {} }, { requestState: 's' }])
    for (let i = 0; i < 2; i++) await client.request('resources/read', { uri: 'a:1', ...additions })
  expect(count('resources/read')).toBe(4)
})

test('a stale page is fetched by its cursor, and a refused cursor discards the cached pages', async () => {
  proves('R-CACHE-021')
  let isChanged = false
  const { client, clock, server, count } = await connect({
    'tools/list': ({ cursor }) => {
      if (cursor !== undefined && isChanged) throw Object.assign(new Error('Invalid cursor'), { code: -32602 })
      return cursor === undefined
        ? { tools: [], ttlMs: 60_000, cacheScope: 'public', ...(isChanged ? {} : { nextCursor: 'b' }) }
        : { tools: [], ttlMs: 1000, cacheScope: 'public' }
    },
  })
  const cursors = () => server.received.filter(({ method }) => method === 'tools/list').map(({ params }) => params.cursor)
  await client.tools().all()
  await clock.advance(2000)
  await client.tools().all()
  expect(cursors()).toEqual([undefined, 'b', 'b'])
  isChanged = true
  await clock.advance(2000)
  await expect(client.tools().all()).rejects.toMatchObject({ code: -32602 })
  await client.tools().all()
  expect(cursors()).toEqual([undefined, 'b', 'b', 'b', undefined])
  expect(count('tools/list')).toBe(5)
})
