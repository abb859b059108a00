/** A store without keys of its own seals what it keeps with the keys of its server. */

import { afterEach, expect, test, vi } from 'vitest'
import { type RedisOptions, type RedisStore, redis } from '../../src/redis/index.ts'
import { keyRing } from '../../src/server/index.ts'
import { callTool, openSession, serve, sessionAt, testServer } from '../support/http-service.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { taskOf } from './every-kind.ts'

const server = redisOfFile()
const [keys, otherKeys] = ['the first secret, of 32 characters', 'the second secret, of 32 characters'].map((secret) => keyRing(secret))
const LIFE = { ttlMs: 60_000, maxAgeMs: 60_000 }

const opened: RedisStore[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

async function openStore(prefix: string, options: RedisOptions = {}): Promise<RedisStore> {
  const store = redis((await server()).url, { prefix, leaseMs: 1000, ...options })
  opened.push(store)
  return store
}

/** The text of all keys and values. */
async function contentOf(prefix: string): Promise<string> {
  const { scan, cli } = await server()
  const names = (await scan()).filter((name) => name.startsWith(prefix))
  return (await Promise.all(names.map(async (name) => name + (await cli('--no-raw', 'DUMP', name))))).join('\n')
}

async function useStore(store: RedisStore): Promise<void> {
  await store.sessions.create('s', '{"who":"top-secret"}', LIFE)
  await store.counters.put('value', 'top-secret', 60_000)
  const task = taskOf('s')
  await store.tasks.create({ ...task, params: { name: 'top-secret' } }, { perAccount: 9, total: 9 })
}

test('the keys of a server seal what its store keeps', async () => {
  const store = await openStore('adopted:')
  const { url } = await serve(testServer({ keys }), { store })
  const session = await openSession(url, '2025-11-25')
  expect((await session.ask(callTool('hi'))).status).toBe(200)
  await useStore(store)
  expect(await contentOf('adopted:')).not.toContain('top-secret')
  // A store that was given the same keys is another replica.
  const replica = await serve(testServer({ keys }), { store: await openStore('adopted:', { keys }) })
  expect((await sessionAt(replica.url, session.id, session.headers).ask(callTool('hi'))).status).toBe(200)
  const plain = await openStore('adopted:')
  await expect(plain.sessions.enter('s', undefined, 1)).rejects.toMatchObject({
    code: 'ERR_STORE_KEY',
    message: expect.stringContaining('this replica has no keys'),
  })
})

test('a store with the keys of its server refuses plain text, which others could plant', async () => {
  const [store, plain] = [await openStore('planted:'), await openStore('planted:')]
  const { url } = await serve(testServer({ keys }), { store })
  await openSession(url, '2025-11-25')
  await useStore(plain)
  const refused = { code: 'ERR_STORE_KEY', message: expect.stringContaining('not sealed') }
  await expect(store.sessions.enter('s', undefined, 1)).rejects.toMatchObject(refused)
  await expect(store.counters.kept('value')).rejects.toMatchObject(refused)
})

test('the keys of a store count before those of its server, and those of the first server before others', async () => {
  const given = await openStore('given:', { keys })
  await openSession((await serve(testServer({ keys: otherKeys }), { store: given })).url, '2025-11-25')
  await useStore(given)
  expect(await (await openStore('given:', { keys })).counters.kept('value')).toBe('top-secret')

  const shared = await openStore('shared:')
  await openSession((await serve(testServer({ keys }), { store: shared })).url, '2025-11-25')
  await openSession((await serve(testServer({ keys: otherKeys }), { store: shared })).url, '2025-11-25')
  await useStore(shared)
  expect(await (await openStore('shared:', { keys })).counters.kept('value')).toBe('top-secret')
})

test('keys that a setting gives to the server of all replicas seal what its store keeps', async () => {
  const store = await openStore('setting:')
  const own = testServer()
  own.useKeys?.(keys!, true)
  await openSession((await serve(own, { store })).url, '2025-11-25')
  await useStore(store)
  expect(await (await openStore('setting:', { keys })).counters.kept('value')).toBe('top-secret')
})

test('random keys of a server without keys seal nothing, because other replicas do not have them', async () => {
  const store = await openStore('random:')
  await openSession((await serve(testServer(), { store })).url, '2025-11-25')
  await useStore(store)
  expect(await (await openStore('random:')).counters.kept('value')).toBe('top-secret')
})

test('keys that fail are reported once, until they work again', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  let isDown = true
  const current = async () => {
    if (isDown) throw new Error('The key service does not answer')
    return keys!.current()
  }
  const store = await openStore('failing:', { keys: { current, find: (id) => keys!.find(id) } })
  const attempt = (): Promise<unknown> => store.sessions.create('s', '{}', LIFE).catch((error: Error) => error)
  const reports = (): unknown[][] => log.mock.calls.filter(([text]) => String(text).includes('keys of the store'))
  await attempt()
  await attempt()
  expect(reports()).toEqual([['portico: The keys of the store cannot be reached: The key service does not answer']])
  isDown = false
  await attempt()
  isDown = true
  await attempt()
  expect(reports()).toHaveLength(2)
  log.mockRestore()
})
