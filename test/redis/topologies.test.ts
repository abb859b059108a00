/** Other ways to run Redis: a cluster, sentinels, TLS, users with few rights. */

import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type RedisOptions, type RedisStore, redis } from '../../src/redis/index.ts'
import { checkStore, checkTaskStore } from '../../src/testing/index.ts'
import { INSTALL_MS } from '../support/packages.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { type Certificate, selfSigned } from '../support/self-signed.ts'
import { until } from '../support/until.ts'
import { entered, LIFE, produce, readAll } from './appending.ts'
import { expectEveryKind, taskOf, useEveryKind } from './every-kind.ts'
import { type RedisCluster, startCluster } from './redis-cluster.ts'

let cluster: Promise<RedisCluster>
beforeAll(async () => {
  cluster = startCluster()
  // Without it each test fails; a hook that fails would have them skipped.
  await cluster.catch(() => {})
}, INSTALL_MS)
afterAll(async () => {
  await cluster.then(
    ({ close }) => close(),
    () => {},
  )
})

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
})

function openStore(url: string, options: RedisOptions = {}): RedisStore {
  const store = redis(url, { leaseMs: 1000, ...options })
  opened.push(store)
  return store
}

test('a store in a cluster keeps the rules of every store', async () => {
  const { url } = await cluster
  await checkStore(() => openStore(url))
}, 60_000)

test('tasks in a cluster keep the rules of every store of tasks', async () => {
  const { url } = await cluster
  let count = 0
  await checkTaskStore(() => openStore(url, { prefix: `tasks${count++}:` }).tasks)
}, 60_000)

test('nothing is left on any node of a cluster after replicas have left and sessions have expired', async () => {
  const { url, scan, primaryOf } = await cluster
  const left = async (): Promise<string[]> => (await scan()).filter((name) => name.startsWith('left:'))
  expect(await left()).toEqual([])
  const [a, b] = [openStore(url, { prefix: 'left:' }), openStore(url, { prefix: 'left:' })]
  const gone = openStore(url, { prefix: 'left:' })
  await gone.sessions.create('gone', '{}', { ttlMs: 1500, maxAgeMs: 1500 })
  await gone.streams.open('gone', 'r1', '{}')
  await gone.close()
  const sids = Array.from({ length: 6 }, (_, at) => `s${at}`)
  for (const sid of sids) {
    await useEveryKind(a, b, sid, 1500)
    await a.tasks.create(taskOf(sid), { perAccount: 9, total: 99 })
  }
  expect(await b.replica.claimDead()).toMatchObject({ streams: [{ sid: 'gone' }] })
  await expectEveryKind(await left(), async (name) => Number(await (await primaryOf(name)).cli('PTTL', name)))
  for (const sid of sids) await a.tasks.remove(sid, taskOf(sid).taskId)
  for (const store of [a, b]) await store.close()
  await until(async () => (await left()).length === 0, 15_000)
}, 60_000)

test('one replica has at most two connections to each node of a cluster, and two that watch it', async () => {
  const { url, nodes } = await cluster
  const store = openStore(url, { connection: { connectionName: 'counted' } })
  for (let at = 0; at < 50; at++) {
    await store.sessions.create(`c${at}`, '{}', { ttlMs: 3000, maxAgeMs: 3000 })
    await store.streams.open(`c${at}`, 'r1', '{}')
  }
  const count = async (): Promise<number> => {
    const lists = await Promise.all(nodes.map(({ cli }) => cli('CLIENT', 'LIST')))
    return lists.flatMap((list) => list.split('\n')).filter((line) => line.includes('counted')).length
  }
  expect(await count()).toBeGreaterThanOrEqual(4)
  // While it asks for the layout of the cluster it may have one more.
  await until(async () => (await count()) <= 2 * nodes.length + 2)
}, 30_000)

test('a cluster whose primary is killed under load goes on, and its losses are counted', async () => {
  const { url, primaryOf } = await cluster
  const store = openStore(url)
  await store.sessions.create('failover', '{}', LIFE)
  const producer = produce(store, 'failover', 2)
  await until(() => producer.accepted.length > 200)
  const primary = await primaryOf('{failover}')
  await primary.stop('SIGKILL')
  const before = producer.accepted.length
  await until(() => producer.accepted.length > before + 100, 30_000)
  await producer.stop()
  const found = await readAll(store, 'failover')
  // Redis confirms a write before its replica has it. Nothing else may happen.
  const { lost, duplicated, reordered } = entered('failover of a primary', producer, found)
  expect(lost).toBeLessThan(50)
  expect({ duplicated, reordered }).toEqual({ duplicated: 0, reordered: 0 })
  await primary.start()
}, 90_000)

describe.each([
  ['without TLS', () => undefined],
  ['with TLS', selfSigned],
])('sentinels %s', (_, certificate) => {
  test('a store behind sentinels finds the primary, and the next one after a failover', async () => {
    const tls = certificate()
    const primary = await startRedis([], { tls })
    opened.push(primary)
    const replica = await startRedis(['--replicaof', '127.0.0.1', String(primary.port), '--repl-diskless-sync-delay', '0'], { tls })
    opened.push(replica)
    const monitor = [
      `sentinel monitor main 127.0.0.1 ${primary.port} 1`,
      'sentinel down-after-milliseconds main 500',
      'sentinel failover-timeout main 2000',
    ]
    const sentinel = await startRedis([], { tls, monitor })
    opened.push(sentinel)
    await until(async () => (await sentinel.cli('SENTINEL', 'REPLICAS', 'main')).includes(String(replica.port)))
    const url = `${tls ? 'rediss' : 'redis'}-sentinel://127.0.0.1:${sentinel.port}/main`
    const store = openStore(url, trusting(tls))
    await store.sessions.create('guarded', '{}', LIFE)
    await until(async () => (await primary.cli('WAIT', '1', '1000')) === '1')
    await primary.stop('SIGKILL')
    await until(async () => (await store.sessions.enter('guarded', undefined, 1).catch(() => 'gone')) !== 'gone', 25_000)
    await store.sessions.create('next', '{}', LIFE)
    expect(await replica.cli('EXISTS', 'portico:{next}:session')).toBe('1')
    if (tls) await expectDoubt(url, /sentinels are unreachable/)
  }, 60_000)
})

test('TLS is used, and a certificate that is not trusted is refused', async () => {
  const tls = selfSigned()
  const server = await startRedis([], { tls })
  opened.push(server)
  const store = openStore(server.url, trusting(tls))
  await store.sessions.create('tls', '{}', LIFE)
  expect(await store.sessions.enter('tls', undefined, 1)).toMatchObject({ revision: 1 })
  await expectDoubt(server.url, /certificate/)
})

test('all nodes of a cluster with TLS are used, and a certificate that is not trusted is refused', async () => {
  const tls = selfSigned()
  const secure = await startCluster(tls)
  opened.push(secure)
  const store = openStore(secure.url, trusting(tls))
  for (let at = 0; at < 50; at++) await store.sessions.create(`s${at}`, '{}', LIFE)
  for (const { scan } of secure.nodes) await until(async () => (await scan()).length > 0)
  await checkStore(() => openStore(secure.url, trusting(tls)))
  await expectDoubt(secure.url, /Failed to refresh slots/)
}, 90_000)

const trusting = (tls: Certificate | undefined): RedisOptions => (tls ? { connection: { tls: { ca: tls.cert } } } : {})

/** In a cluster and behind sentinels the client library does not say that the certificate is the reason. */
async function expectDoubt(url: string, reason: RegExp): Promise<void> {
  const doubting = openStore(url, { timeoutMs: 500 })
  await expect(doubting.sessions.enter('tls', undefined, 1)).rejects.toMatchObject({ code: 'ERR_STORE_DOWN' })
  expect(doubting.health()).toMatch(reason)
}

/** The rights that the documentation gives to the user of a store. */
function documentedRights(): string[] {
  const guide = readFileSync(new URL('../../docs/redis.md', import.meta.url), 'utf8')
  const [, rights] = /^user portico on >\S+ (.+)$/m.exec(guide) ?? []
  if (rights === undefined) throw new Error('docs/redis.md shows no user')
  return rights.split(' ')
}

/** Gives the user `portico` these rights. Returns a function that gives the URL of the user with a password. */
async function giveRights(url: string, nodes: readonly RedisServer[], rights: string[]): Promise<(password: string) => string> {
  for (const { cli } of nodes) await cli('ACL', 'SETUSER', 'portico', 'reset', 'on', '>pass:word@1', ...rights)
  return (password) => url.replace('//', `//portico:${encodeURIComponent(password)}@`)
}

async function oneServer(): Promise<Pick<RedisCluster, 'url' | 'nodes'>> {
  const server = await startRedis()
  opened.push(server)
  return { url: server.url, nodes: [server] }
}

test.each([
  ['one Redis', oneServer],
  ['a cluster', () => cluster],
])(
  'in %s a user that may only use the keys and commands in the documentation is enough',
  async (_name, start) => {
    const { url, nodes } = await start()
    const urlWith = await giveRights(url, nodes, documentedRights())
    const open = (prefix: string): RedisStore => openStore(urlWith('pass:word@1'), { prefix })
    await checkStore(() => open('portico:'))
    await checkTaskStore(() => open(`portico:${Math.random()}:`).tasks)
    const foreign = open('other:')
    await expect(foreign.sessions.create('x', '{}', LIFE)).rejects.toMatchObject({
      code: 'ERR_STORE_DOWN',
      message: expect.stringContaining('permissions'),
    })
    expect(foreign.health()).toContain('permissions')
    const wrong = openStore(urlWith('wrong'), { timeoutMs: 500 })
    await expect(wrong.sessions.enter('x', undefined, 1)).rejects.toMatchObject({ code: 'ERR_STORE_DOWN' })
    expect(wrong.health()).toContain('WRONGPASS')
  },
  60_000,
)

test.each(['+cluster|slots', '+cluster|info'])('a store in a cluster whose user has no right %s says what Redis refused', async (right) => {
  const { url, nodes } = await cluster
  const rights = documentedRights()
  expect(rights).toContain(right)
  const urlWith = await giveRights(
    url,
    nodes,
    rights.filter((each) => each !== right),
  )
  const store = openStore(urlWith('pass:word@1'), { timeoutMs: 500 })
  await expect(store.sessions.enter('x', undefined, 1)).rejects.toMatchObject({
    code: 'ERR_STORE_DOWN',
    message: expect.stringContaining('No connection to Redis: NOPERM'),
  })
  expect(store.health()).toContain('NOPERM')
})

test('the older major version of the client library works, too', async () => {
  const server = await startRedis()
  opened.push(server)
  vi.resetModules()
  vi.doMock('ioredis', () => import('ioredis-v5'))
  const { redis: withOlder } = await import('../../src/redis/index.ts')
  await checkStore(() => withOlder(server.url, { leaseMs: 1000 }))
  const { url } = await cluster
  await checkStore(() => withOlder(url, { leaseMs: 1000 }))
  vi.doUnmock('ioredis')
}, 60_000)
