/** The store in Redis keeps the rules of every store, alone and with its keys. */

import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { KeyRing } from '../../src/protocol/interfaces/replaceable-services.ts'
import { type RedisOptions, type RedisStore, redis } from '../../src/redis/index.ts'
import type { SharedStore } from '../../src/store/index.ts'
import { sampleTask } from '../../src/testing/check-task-store.ts'
import { checkStore, checkTaskStore } from '../../src/testing/index.ts'
import { gate } from '../support/http-service.ts'
import { redisOfFile, startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'
import { extensionClient, taskServer } from '../tasks/task-server.ts'
import { useEveryKind } from './every-kind.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'

const key = { id: 'k1', secret: randomBytes(32) }
const keys: KeyRing = { current: () => key, find: (id) => (id === key.id ? key : undefined) }
const LIFE = { ttlMs: 60_000, maxAgeMs: 60_000 }
const BOUNDS = { maxEvents: 100, maxBytes: 100_000, maxSessionBytes: 100_000_000, endedTtlMs: 60_000, maxEnded: 16 }

const opened: RedisStore[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

function openStore(url: string, options: RedisOptions = {}): RedisStore {
  const store = redis(url, { leaseMs: 1000, ...options })
  opened.push(store)
  return store
}

describe('a server of its own', () => {
  const server = redisOfFile()

  test('keeps the rules of every store', async () => {
    const { port } = await server()
    const proxies = new Map<SharedStore, TcpProxy>()
    const open = async (): Promise<SharedStore> => {
      const proxy = await tcpProxy(port)
      const store = openStore(`redis://127.0.0.1:${proxy.port}`, { timeoutMs: 500 })
      proxies.set(store, proxy)
      return store
    }
    const silence = (store: SharedStore) => {
      const proxy = proxies.get(store) as TcpProxy
      proxy.hang('both')
      return () => {
        proxy.heal()
        proxy.cut()
      }
    }
    await checkStore(open, { silence })
    await Promise.all([...proxies.values()].map((proxy) => proxy.close()))
  }, 60_000)

  test('keeps the rules of every store with sealed values', async () => {
    const { url } = await server()
    await checkStore(() => openStore(url, { keys, prefix: 'checked:' }))
  }, 60_000)

  test('keeps the rules of every store of tasks', async () => {
    const { url } = await server()
    let count = 0
    await checkTaskStore(() => openStore(url, { prefix: `tasks${count++}:`, keys }).tasks)
  })
})

const server = redisOfFile()

test('a server that PORTICO_REDIS_SERVER names and that does not run fails the tests', async () => {
  vi.stubEnv('PORTICO_REDIS_SERVER', '/nowhere/redis-server')
  await expect(startRedis()).rejects.toThrow('in PORTICO_REDIS_SERVER, got "/nowhere/redis-server": spawnSync /nowhere/redis-server ENOENT')
  vi.unstubAllEnvs()
})

test.each([
  ['maxBytes', 'p'],
  ['maxBytesPerCaller', 'o'],
])('the bytes of tasks are limited by %s, and room is given back', async (limit, account) => {
  const { url, scan } = await server()
  const prefix = `${limit}:`
  const { tasks } = openStore(url, { prefix, tasks: { [limit]: 130_000 } })
  const caps = { perAccount: 99, total: 99 }
  const large = (taskId: string, of = account) => ({
    ...sampleTask(taskId),
    account: of,
    ttlMs: 60_000,
    params: { text: 'x'.repeat(50_000) },
  })
  await tasks.create(large('a', 'o'), caps)
  await tasks.create(large('b'), caps)
  const refusal = { code: 'ERR_LIMIT', data: { reason: 'limit', limit, max: 130_000 } }
  await expect(tasks.create(large('c'), caps)).rejects.toMatchObject(refusal)
  await expect(tasks.replace({ ...large('b'), edition: 2, params: { text: 'x'.repeat(90_000) } })).rejects.toMatchObject(refusal)
  if (account === 'o') expect(await tasks.create(large('d', 'q'), caps)).toBeUndefined()
  await tasks.remove(large('a').owner, 'a')
  expect(await tasks.create(large('c'), caps)).toBeUndefined()
  for (const id of ['b', 'c', 'd']) await tasks.remove(large(id).owner, id)
  expect((await scan()).filter((name) => name.startsWith(prefix))).toEqual([])
})

describe('a failure in the middle leaves no place and no bytes of a task', () => {
  const caps = { perAccount: 1, total: 99 }

  /** A store whose user cannot use keys for a while. */
  async function refusing() {
    const { port, cli, scan } = await server()
    const prefix = `${randomBytes(6).toString('hex')}:`
    const user = `u${prefix.slice(0, -1)}`
    const allow = (...keys: string[]) =>
      cli('acl', 'setuser', user, 'on', '>p', '+@all', '&*', 'resetkeys', ...keys.map((each) => `~${each}`))
    await allow('*')
    const store = openStore(`redis://${user}:p@127.0.0.1:${port}`, { prefix })
    const left = async () => (await scan()).filter((name) => name.startsWith(prefix))
    return { store, allow, prefix, left }
  }

  test('of its creation', async () => {
    const { store, allow, prefix, left } = await refusing()
    const { server: own } = taskServer({ store: store.tasks, limits: { maxTasksPerCaller: 1 } })
    const client = extensionClient(own)
    await client.request('tasks/get', { taskId: 'x' })
    await allow(`${prefix}{*`, `${prefix}account:*`)
    expect((await client.call('work')).error).toBeDefined()
    expect(await left()).toHaveLength(1)
    await allow('*')
    await until(async () => (await left()).length === 0)
    await own.close()
  })

  test('of its removal', async () => {
    const { store, allow, prefix, left } = await refusing()
    const task = { ...sampleTask('a'), ttlMs: 60_000 }
    await store.tasks.create(task, caps)
    await allow(`${prefix}{*`, `${prefix}tasks`)
    await expect(store.tasks.remove(task.owner, 'a', task.account)).rejects.toMatchObject({ code: 'ERR_STORE_DOWN' })
    expect(await store.tasks.read(task.owner, 'a')).toBeUndefined()
    await allow('*')
    await store.tasks.remove(task.owner, 'a', task.account)
    expect(await left()).toEqual([])
  })
})

test('nothing is left in Redis after sessions have expired and replicas have left', async () => {
  const { url, scan } = await server()
  const [a, b] = [openStore(url), openStore(url)]
  for (const sid of ['s1', 's2']) await useEveryKind(a, b, sid, 1500)
  expect((await scan()).length).toBeGreaterThan(12)
  await b.replica.leave()
  while (
    await a.replica
      .claimDead()
      .then((dead) => dead && Promise.all(dead.streams.map((each) => a.streams.takeOver(each.sid, each.stream, dead.replica))))
  );
  await a.sessions.end('s1')
  expect((await scan()).filter((name) => name.includes('s1'))).toEqual([])
  await b.close()
  await a.close()
  // What the last replica did not end stays as long as its session could live.
  await until(async () => (await scan()).length === 0, 15_000)
}, 30_000)

test('values are unreadable in Redis when there are keys, and cannot be moved', async () => {
  const redisServer = await server()
  const store = openStore(redisServer.url, { keys, prefix: 'sealed:' })
  await store.sessions.create('s1', '{"who":"top-secret"}', LIFE)
  await store.sessions.create('s2', '{}', LIFE)
  const epoch = (await store.streams.open('s1', 'r1', '"top-secret"')) as number
  const events = [{ json: '"top-secret"', question: 'q1' }]
  await store.streams.append('s1', 'r1', { n: 1, epoch, events }, BOUNDS)
  await store.streams.answer('s1', 'r1', 'q1', '"top-secret"')
  await store.streams.record('s1', 'r1', epoch, 'step top-secret', '"top-secret"')
  await store.streams.append('s1', '0', { n: 2, events: [{ json: '"top-secret"', coalesce: 'resource top-secret' }] }, BOUNDS)
  await store.topics.add('resource top-secret', 's1', 10_000)
  await store.counters.keep('top-secret', 'top-secret', 10_000)
  for (const name of (await redisServer.scan()).filter((each) => each.startsWith('sealed:'))) {
    expect(name).not.toContain('top-secret')
    const dump = await redisServer.cli('--no-raw', 'DUMP', name)
    expect(dump, name).not.toContain('top-secret')
  }
  await redisServer.cli('COPY', 'sealed:{s1}:session', 'sealed:{s2}:session', 'REPLACE')
  await expect(store.sessions.enter('s2', undefined, 1)).rejects.toThrow('was changed, moved, or sealed with another key')
  const plain = openStore(redisServer.url, { prefix: 'sealed:' })
  await expect(plain.sessions.enter('s1', undefined, 1)).rejects.toThrow('is sealed, and this replica has no keys')
  const other = { id: 'k2', secret: randomBytes(32) }
  const leaseMs = 500
  const foreign = openStore(redisServer.url, { prefix: 'sealed:', leaseMs, keys: { current: () => other, find: () => undefined } })
  const lacksKey = { code: 'ERR_STORE_KEY', message: expect.stringContaining('was sealed with a key that this replica does not have') }
  await expect(foreign.sessions.enter('s1', undefined, 1)).rejects.toMatchObject(lacksKey)
  await expect(foreign.sessions.enter('s1', undefined, 1)).rejects.toThrow('A value in Redis (the record of a session) was sealed')
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const takeOver = () => foreign.streams.takeOver('s1', 'r1', store.replica.id)
  // A replica with the right key may take it first.
  expect(await takeOver()).toBeUndefined()
  await expect.poll(takeOver).toMatchObject({ call: '', epoch: expect.any(Number) })
  errors.mockRestore()
  await plain.sessions.create('s3', '{}', LIFE)
  await expect(store.sessions.enter('s3', undefined, 1)).rejects.toThrow('is not sealed')
})

test('keys that fail for a while count as a store that is down, and no value counts as lost', async () => {
  const { url } = await server()
  const prefix = 'failing:'
  let isFailing = false
  const find = (id: string) => (isFailing ? Promise.reject(new Error('The key service does not answer')) : keys.find(id))
  const [owner, other] = [openStore(url, { keys, prefix }), openStore(url, { prefix, keys: { current: keys.current, find } })]
  await owner.sessions.create('s1', '{}', LIFE)
  await owner.streams.open('s1', 'r1', '"the call"')
  await owner.streams.append('s1', '0', { n: 1, events: [{ json: '"a notice"' }] }, BOUNDS)
  const task = sampleTask('t1', { createdAt: Date.now(), ttlMs: 60_000 })
  await owner.tasks.create(task, { perAccount: 9, total: 9 })
  isFailing = true
  const down = { code: 'ERR_STORE_DOWN', message: 'The keys of the store cannot be reached: The key service does not answer' }
  await expect(other.sessions.enter('s1', undefined, 1)).rejects.toMatchObject(down)
  await expect(other.streams.takeOver('s1', 'r1', owner.replica.id)).rejects.toMatchObject(down)
  await expect(other.streams.attach('s1', '0', '', 10)).rejects.toMatchObject(down)
  await expect(other.tasks.list(task.owner)).rejects.toMatchObject(down)
  isFailing = false
  expect(await other.streams.attach('s1', '0', '', 10)).toMatchObject({ events: [{ json: '"a notice"' }] })
  expect(await other.streams.takeOver('s1', 'r1', owner.replica.id)).toMatchObject({ call: '"the call"' })
})

test('a message that comes while the keys fail is heard when they work again', async () => {
  const { url } = await server()
  const prefix = 'keyless:'
  let isFailing = true
  const find = (id: string) => (isFailing ? Promise.reject(new Error('The key service does not answer')) : keys.find(id))
  const [sender, hearer] = [openStore(url, { keys, prefix }), openStore(url, { prefix, keys: { current: keys.current, find } })]
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const heard: string[] = []
  hearer.replica.listen((message) => heard.push(message.kind === 'message' ? message.json : message.kind))
  await hearer.replica.join()
  for (const json of ['1', '2']) await sender.replica.send(hearer.replica.id, json)
  await until(() => errors.mock.calls.length > 0)
  await new Promise((resolve) => setTimeout(resolve, 300))
  isFailing = false
  await until(() => heard.length >= 2)
  expect(heard).toEqual(['1', '2'])
  errors.mockRestore()
})

test('messages that cannot be opened count as missed, at most once in a lease', async () => {
  const { url, cli } = await server()
  const prefix = 'foreign:'
  const other = { id: 'k2', secret: randomBytes(32) }
  const foreign = openStore(url, { prefix, keys: { current: () => other, find: () => undefined } })
  const hearer = openStore(url, { prefix, keys, leaseMs: 2000 })
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const heard: [kind: string, at: number][] = []
  hearer.replica.listen(({ kind }) => heard.push([kind, performance.now()]))
  await hearer.replica.join()
  for (let at = 0; at < 100; at++) await foreign.replica.send(hearer.replica.id, '1')
  const ours = openStore(url, { prefix, keys })
  await ours.replica.send(hearer.replica.id, '"ours"')
  await until(() => heard.length >= 3)
  expect(heard.map(([kind]) => kind)).toEqual(['missed', 'message', 'missed'])
  expect((heard[2]?.[1] ?? 0) - (heard[0]?.[1] ?? 0)).toBeGreaterThan(1900)
  // Without keys anyone who can write to Redis can send a text that is no message.
  const plain = openStore(url, { prefix: 'odd:' })
  const told: string[] = []
  plain.replica.listen(({ kind }) => told.push(kind))
  await plain.replica.join()
  const add = "return redis.call('XADD', KEYS[1], '*', 'n', '1', 'm', '\\0{')"
  await cli('EVAL', add, '1', `odd:{replica:${plain.replica.id}}:inbox`)
  await openStore(url, { prefix: 'odd:' }).replica.send(plain.replica.id, '"next"')
  await until(() => told.includes('message'))
  expect(told).toEqual(['missed', 'message'])
  errors.mockRestore()
}, 30_000)

test('a task that another key sealed is reported, and does not hide the others', async () => {
  const { url } = await server()
  const store = openStore(url, { keys, prefix: 'tasks:' })
  const other = { id: 'k2', secret: randomBytes(32) }
  const foreign = openStore(url, { prefix: 'tasks:', keys: { current: () => other, find: (id) => (id === 'k2' ? other : undefined) } })
  const base = { owner: 'o', createdAt: Date.now(), ttlMs: 60_000, lease: { holder: 'h', epoch: 1, until: 0 } }
  await store.tasks.create(sampleTask('ours', base), { perAccount: 9, total: 9 })
  await foreign.tasks.create(sampleTask('theirs', base), { perAccount: 9, total: 9 })
  const reports: string[] = []
  vi.spyOn(console, 'error').mockImplementation((message: string) => void reports.push(message))
  const ids = (tasks: { taskId: string }[]): string[] => tasks.map(({ taskId }) => taskId)
  expect(ids(await store.tasks.neglected(Date.now()))).toEqual(['ours'])
  expect(ids(await foreign.tasks.list('o'))).toEqual(['theirs'])
  expect(ids(await foreign.tasks.neglected(Date.now()))).toEqual(['theirs'])
  vi.restoreAllMocks()
  expect(reports[0]).toMatch(/^portico: a task cannot be read: A value in Redis .* was sealed with a key that this replica does not have/)
})

test('servers with different prefixes share nothing', async () => {
  const { url } = await server()
  const [a, b] = [openStore(url, { prefix: 'a:' }), openStore(url, { prefix: 'b:' })]
  await a.sessions.create('same', '{}', LIFE)
  expect(await b.sessions.enter('same', undefined, 1)).toBe('gone')
  await Promise.all([a.replica.join(), b.replica.join()])
  expect(await a.replica.send(b.replica.id, '{}')).toBe(false)
})

test('change notices reach the servers of all replicas, and the own one at once', async () => {
  const { url } = await server()
  const [a, b] = [openStore(url, { prefix: 'bus:' }), openStore(url, { prefix: 'bus:' })]
  const told: string[] = []
  const stop = a.bus.subscribe((change) => told.push(`a ${change.kind}`))
  b.bus.subscribe((change) => told.push(`b ${change.kind}`))
  await Promise.all([a.replica.join(), b.replica.join()])
  a.bus.publish({ kind: 'tools' })
  expect(told).toEqual(['a tools'])
  await until(() => told.length === 2)
  expect(told).toEqual(['a tools', 'b tools'])
  stop()
  b.bus.publish({ kind: 'prompts' })
  await until(() => told.length === 3)
  expect(told[2]).toBe('b prompts')
})

test('scripts are sent again after Redis has forgotten them', async () => {
  const { url, cli } = await server()
  const store = openStore(url)
  await store.sessions.create('forgotten', '{}', LIFE)
  await cli('SCRIPT', 'FLUSH')
  expect(await store.sessions.enter('forgotten', undefined, 1)).toMatchObject({ revision: 1 })
})

test('one replica has two connections to one Redis', async () => {
  const { url, cli } = await server()
  const store = openStore(url, { connection: { connectionName: 'counted' } })
  await store.sessions.create('c', '{}', LIFE)
  await store.streams.open('c', 'r1', '{}')
  await Promise.all(Array.from({ length: 100 }, () => store.counters.take('c', { perSecond: 1000, burst: 1000 })))
  const count = async (): Promise<number> =>
    (await cli('CLIENT', 'LIST')).split('\n').filter((line) => line.includes('name=counted')).length
  await until(async () => (await count()) === 2)
  await store.close()
  await until(async () => (await count()) === 0)
})

test('a long id of a request is kept as a digest', async () => {
  const { url, cli } = await server()
  const store = openStore(url, { prefix: 'ids:' })
  await store.sessions.create('s1', '{}', LIFE)
  const long = 'i'.repeat(1_000_000)
  expect(await store.sessions.enter('s1', long, 10)).toMatchObject({ record: '{}' })
  expect(await store.sessions.enter('s1', long, 10)).toBe('duplicate')
  expect((await cli('HKEYS', 'ids:{s1}:calls')).trim().length).toBeLessThan(64)
  expect(await store.sessions.cancel('s1', long)).toBe(store.replica.id)
  await store.sessions.leave('s1', long)
  expect(await store.sessions.cancel('s1', long)).toBeUndefined()
})

test('the inbox of a replica has a limit of bytes, and the replica is told that it missed a message', async () => {
  const { url, cli } = await server()
  const go = gate()
  const slow: KeyRing = { ...keys, find: (id) => go.opened.then(() => keys.find(id)) }
  const [a, b] = [openStore(url, { prefix: 'inbox:', leaseMs: 60_000, keys: slow }), openStore(url, { prefix: 'inbox:', keys })]
  const heard: string[] = []
  a.replica.listen((message) => heard.push(message.kind))
  await a.replica.join()
  const large = JSON.stringify('x'.repeat(7 * 1024 * 1024))
  for (let at = 0; at < 5; at++) expect(await b.replica.send(a.replica.id, large)).toBe(true)
  await b.replica.send(a.replica.id, '1')
  expect((await cli('XLEN', `inbox:{replica:${a.replica.id}}:inbox`)).trim()).toBe('5')
  go.open()
  await vi.waitFor(() => expect(heard.filter((kind) => kind === 'message').length).toBe(5), 10_000)
  expect(heard).toContain('missed')
}, 30_000)

test('a replica that handles its messages misses none, however many bytes come until it renews its lease', async () => {
  const { url } = await server()
  const [a, b] = [openStore(url, { prefix: 'handled:', leaseMs: 60_000 }), openStore(url, { prefix: 'handled:' })]
  const heard: string[] = []
  a.replica.listen((message) => heard.push(message.kind))
  await a.replica.join()
  const large = JSON.stringify('x'.repeat(7 * 1024 * 1024))
  for (let at = 1; at <= 10; at++) {
    await b.replica.send(a.replica.id, large)
    await vi.waitFor(() => expect(heard.length).toBe(at), 10_000)
  }
  expect(new Set(heard)).toEqual(new Set(['message']))
}, 30_000)
