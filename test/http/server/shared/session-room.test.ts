/** At the limits of sessions, replicas close idle sessions for new ones, as one process does. */

import { afterEach, describe, expect, test, vi } from 'vitest'
import { randomId } from '../../../../src/base/bytes.ts'
import { redis } from '../../../../src/redis/index.ts'
import { keyRing } from '../../../../src/server/index.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { http } from '../../../support/http-requests.ts'
import {
  byHeader,
  callTool,
  gate,
  type HttpSession,
  initializeMessage,
  openSession,
  storedName,
  testServer,
  until,
} from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storeLine } from '../../../support/store-line.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'
import { watchedStore } from '../../../support/watched-store.ts'

const redisServer = redisOfFile()
afterEach(() => void vi.restoreAllMocks())
const REVISION = '2025-11-25'

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['another process', async (count) => storesInMemory(count).map((store) => storeLine(store).store)],
  ['Redis', storesInRedis(redisServer)],
]

const from = (address: string) => ({ 'x-forwarded-for': address })

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  const idleFor = async (session: HttpSession, store: SharedStore, ms: number): Promise<void> =>
    until(async () => {
      const [looked] = await store.sessions.idle([storedName(session)])
      return typeof looked === 'object' && (looked.idleMs ?? 0) >= ms
    })

  test.each(['maxSessions', 'maxSessionsPerAddress'] as const)(
    '%s: the session that is idle longest makes room for a new one',
    async (limit) => {
      const stores = await storesOf(3)
      const { urls } = await serveReplicas(() => testServer(), { stores, limits: { [limit]: 3 } })
      const [a, b, c] = urls as [string, string, string]
      const statusOf = async ({ headers }: HttpSession): Promise<number> =>
        (await http(c, { headers, body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: callTool('hi').params } })).status
      const oldest = await openSession(a, REVISION)
      const used = await openSession(b, REVISION)
      const third = await openSession(c, REVISION)
      await idleFor(oldest, stores[0] as SharedStore, 50)
      expect([await statusOf(used), await statusOf(third)]).toEqual([200, 200])
      const fourth = await openSession(b, REVISION)
      expect(await statusOf(oldest)).toBe(404)
      expect([await statusOf(used), await statusOf(third), await statusOf(fourth)]).toEqual([200, 200, 200])
      // An open stream is a use, however long nothing was said on it.
      await used.listen()
      await third.listen()
      await idleFor(fourth, stores[2] as SharedStore, 50)
      const fifth = await openSession(a, REVISION)
      expect(await statusOf(fourth)).toBe(404)
      expect([await statusOf(used), await statusOf(third), await statusOf(fifth)]).toEqual([200, 200, 200])
    },
  )

  test('when all sessions are in use, a new one is refused', async () => {
    const [begun, go] = [gate(), gate()]
    const define = () => {
      const server = testServer()
      server.tool('hold', {}, async () => {
        begun.open()
        await go.opened
        return 'held'
      })
      return server
    }
    const { urls } = await serveReplicas(define, {
      stores: await storesOf(3),
      trustProxy: true,
      limits: { maxSessionsPerAddress: 2, maxSessions: 3 },
    })
    const open = (at: number, address: string) => http(urls[at] as string, { body: initializeMessage(REVISION), headers: from(address) })
    const first = await openSession(urls[0] as string, REVISION, { headers: from('192.0.2.1') })
    const second = await openSession(urls[1] as string, REVISION, { headers: from('192.0.2.1') })
    await first.listen()
    const held = second.ask(callTool('hold'))
    await begun.opened
    const full = (status: number, limit: string) => ({ status, message: { error: { data: { limit } } } })
    expect(await open(2, '192.0.2.1')).toMatchObject(full(429, 'maxSessionsPerAddress'))
    const third = await openSession(urls[2] as string, REVISION, { headers: from('192.0.2.2') })
    // The address with the most sessions would have to lose one, and uses both.
    expect(await open(0, '192.0.2.3')).toMatchObject(full(503, 'maxSessions'))
    expect((await third.ask(callTool('hi'))).status).toBe(200)
    go.open()
    expect((await held).status).toBe(200)
    expect((await open(0, '192.0.2.3')).status).toBe(200)
    expect((await second.ask(callTool('hi'))).status).toBe(404)
  })

  test('at maxSessions the address with the most sessions loses one', async () => {
    const { urls } = await serveReplicas(() => testServer(), { stores: await storesOf(3), trustProxy: true, limits: { maxSessions: 4 } })
    const open = (address: string, at: number) => openSession(urls[at] as string, REVISION, { headers: from(address) })
    const few = await open('192.0.2.1', 0)
    const many = [await open('192.0.2.2', 0), await open('192.0.2.2', 1), await open('192.0.2.2', 2)]
    const next = await open('192.0.2.3', 1)
    for (const session of [few, next]) expect((await session.ask(callTool('hi'))).status).toBe(200)
    const left = await Promise.all(many.map((session) => session.ask(callTool('hi'))))
    expect(left.map(({ status }) => status).sort()).toEqual([200, 200, 404])
  })

  test('sessions of one principal are refused at the limit, and none is closed', async () => {
    const { urls } = await serveReplicas(() => testServer(), {
      stores: await storesOf(3),
      authenticate: byHeader,
      limits: { maxSessionsPerPrincipal: 2 },
    })
    const ada = { 'x-user': 'ada' }
    const sessions = [
      await openSession(urls[0] as string, REVISION, { headers: ada }),
      await openSession(urls[1] as string, REVISION, { headers: ada }),
    ]
    const full = await http(urls[2] as string, { body: initializeMessage(REVISION), headers: ada })
    expect(full).toMatchObject({ status: 429, message: { error: { data: { limit: 'maxSessionsPerPrincipal' } } } })
    for (const session of sessions) expect((await session.ask(callTool('hi'))).status).toBe(200)
  })

  test('a session that has expired makes room at once', async () => {
    const stores = await storesOf(3)
    const { urls } = await serveReplicas(() => testServer(), { stores, trustProxy: true, limits: { maxSessions: 2 } })
    const gone = await openSession(urls[0] as string, REVISION, { headers: from('192.0.2.1') })
    const idle = await openSession(urls[1] as string, REVISION, { headers: from('192.0.2.2') })
    // As if its time were over: its topics still have it.
    await stores[0]?.sessions.end(gone.id)
    await openSession(urls[2] as string, REVISION, { headers: from('192.0.2.3') })
    expect((await idle.ask(callTool('hi'))).status).toBe(200)
  })
})

describe.each(['maxSessions', 'maxSessionsPerAddress'] as const)('%s', (limit) => {
  const [OLD, NEW] = ['the old secret, of at least 32 characters', 'the new secret, of at least 32 characters']
  const open = (url: string | undefined) => http(url as string, { body: initializeMessage(REVISION) })

  /** One replica for each ring of secrets. */
  async function replicasWith(...rings: string[][]) {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { url, cli } = await redisServer()
    const prefix = `${randomId()}:`
    const stores = rings.map((secrets) => redis(url, { prefix, keys: keyRing(secrets) }))
    const { urls } = await serveReplicas(() => testServer(), { count: rings.length, stores, limits: { [limit]: 3 } })
    return { urls, stores, cli, prefix }
  }

  test('sessions whose secret was removed make room, and those in use stay', async () => {
    const { urls, stores } = await replicasWith([OLD], [NEW, OLD], [NEW])
    const used = await openSession(urls[0] as string, REVISION)
    await used.listen()
    await openSession(urls[0] as string, REVISION)
    // It seals the secret of all ids with the new key.
    const newer = await openSession(urls[1] as string, REVISION)
    expect((await open(urls[2])).status).toBe(200)
    expect((await newer.ask(callTool('hi'))).status).toBe(200)
    expect((await used.ask(callTool('hi'))).status).toBe(200)
    expect(await stores[2]?.topics.size('sessions')).toBe(3)
  })

  test('a replica with wrong keys does not end sessions of the others', async () => {
    const { urls } = await replicasWith([OLD], [NEW])
    const sessions = [1, 2, 3].map(() => openSession(urls[0] as string, REVISION))
    for (const session of await Promise.all(sessions)) {
      expect((await open(urls[1])).status).toBeGreaterThan(400)
      expect((await session.ask(callTool('hi'))).status).toBe(200)
    }
  })

  test.each([
    ['of another type', ['HSET', 'x', 'y']],
    ['without its head', ['SET', 'x']],
    ['without JSON', ['EVAL', "return redis.call('SET', KEYS[1], '1 60000 9999999999999 0 \\0no JSON')", '1']],
  ])('a damaged session makes room: a record %s', async (_kind, [command = '', ...rest]) => {
    const { urls, stores, cli, prefix } = await replicasWith([NEW])
    const sessions = [await openSession(urls[0] as string, REVISION)]
    sessions.push(await openSession(urls[0] as string, REVISION), await openSession(urls[0] as string, REVISION))
    const key = `${prefix}{${storedName(sessions[2] as HttpSession)}}:session`
    await cli('DEL', key)
    await (command === 'EVAL' ? cli(command, ...rest, key) : cli(command, key, ...rest))
    expect((await open(urls[0])).status).toBe(200)
    expect(await stores[0]?.topics.size('sessions')).toBe(3)
    for (const session of sessions.slice(0, 2)) expect((await session.ask(callTool('hi'))).status).toBe(200)
  })
})

test('at the limit a new session costs a fixed number of looks into the store', async () => {
  const [store] = storesInMemory(1) as [SharedStore]
  const { store: watched, commands } = watchedStore(store)
  const { urls } = await serveReplicas(() => testServer(), {
    count: 1,
    stores: [watched],
    limits: { maxSessionsPerAddress: 200, maxSessions: 200 },
  })
  const open = () => http(urls[0] as string, { body: initializeMessage(REVISION) })
  for (let i = 0; i < 200; i++) await open()
  const perSession: number[] = []
  for (let i = 0; i < 20; i++) {
    commands.length = 0
    expect((await open()).status).toBe(200)
    perSession.push(commands.filter(({ part }) => part === 'sessions' || part === 'topics').length)
  }
  expect(Math.max(...perSession)).toBeLessThan(30)
  expect(await store.topics.size('sessions')).toBe(200)
})
