/** What happens when Redis, a connection or a replica fails. */

import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import { listen } from '../../src/http/index.ts'
import { type RedisOptions, type RedisStore, redis } from '../../src/redis/index.ts'
import { createServer } from '../../src/server/index.ts'
import type { StoreMessage } from '../../src/store/index.ts'
import { type RedisServer, redisOfFile, startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'
import { BOUNDS, entered, LIFE, produce, readAll } from './appending.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'

const server = redisOfFile(['--appendonly', 'yes', '--appendfsync', 'always'])
const FAST = { leaseMs: 2000, timeoutMs: 1000 }
const DOWN = { code: 'ERR_STORE_DOWN' }

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
})

function openStore(url: string, options: RedisOptions = {}): RedisStore {
  const store = redis(url, { ...FAST, ...options })
  opened.push(store)
  return store
}

async function openProxy(target: number): Promise<TcpProxy> {
  const proxy = await tcpProxy(target)
  opened.push(proxy)
  return proxy
}

async function owner(url: string, prefix: string, sid: string) {
  const program = fileURLToPath(new URL('fixtures/owner.mjs', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [program, url, prefix, sid], { stdio: ['pipe', 'pipe', 'inherit'] })
  opened.push({ close: async () => void child.kill('SIGKILL') })
  const lines: Record<string, unknown>[] = []
  createInterface({ input: child.stdout! }).on('line', (line) => lines.push(JSON.parse(line)))
  const next = async (): Promise<Record<string, unknown>> => {
    await until(() => lines.length > 0)
    return lines.shift()!
  }
  const { id, epoch } = (await next()) as { id: string; epoch: number }
  return { child, id, epoch, next, append: (text: string) => void child.stdin!.write(`${text}\n`) }
}

async function claim(store: RedisStore, replica: string): Promise<void> {
  await until(async () => (await store.replica.claimDead())?.replica === replica)
}

test('a replica that was stopped and goes on after its lease can neither append nor write', async () => {
  const { url } = await server()
  const store = openStore(url, { prefix: 'zombie:' })
  await store.sessions.create('zombie', '{}', LIFE)
  const zombie = await owner(url, 'zombie:', 'zombie')
  zombie.append('first')
  expect(await zombie.next()).toEqual({ line: 'first', isHeld: true, appended: 'added' })
  zombie.child.kill('SIGSTOP')
  await claim(store, zombie.id)
  const taken = await store.streams.takeOver('zombie', 'r1', zombie.id)
  expect(taken).toMatchObject({ call: '{"method":"tools/call"}' })
  zombie.append('from the dead')
  zombie.child.kill('SIGCONT')
  const said = [await zombie.next(), await zombie.next()]
  expect(said).toContainEqual({ line: 'from the dead', isHeld: false, appended: 'fenced' })
  expect(said).toContainEqual({ lost: expect.stringContaining('the lease') })
  const batch = { n: 1, epoch: taken!.epoch, events: [{ json: '"answer"' }], isLast: true }
  await store.streams.append('zombie', 'r1', batch, BOUNDS)
  expect((await readAll(store, 'zombie', 'r1')).map(({ json }) => json)).toEqual(['"first"', '"answer"'])
}, 30_000)

test('the streams of a killed replica are claimed within its lease and two seconds, by one replica', async () => {
  const { url } = await server()
  const prefix = 'killed:'
  const [a, b] = [openStore(url, { prefix }), openStore(url, { prefix })]
  await a.sessions.create('killed', '{}', LIFE)
  const killed = await owner(url, prefix, 'killed')
  await Promise.all([a.replica.join(), b.replica.join()])
  killed.child.kill('SIGKILL')
  const started = performance.now()
  const claimers: RedisStore[] = []
  await until(async () => {
    for (const store of [a, b]) {
      const dead = await store.replica.claimDead()
      if (dead?.replica === killed.id) claimers.push(store)
    }
    return claimers.length > 0
  })
  expect(performance.now() - started).toBeLessThan(FAST.leaseMs + 2000)
  expect(claimers).toHaveLength(1)
  // The lease can end between the two attempts of a round, so either replica can be the first.
  const claimer = claimers[0]!
  const other = claimer === a ? b : a
  expect(await other.replica.claimDead()).toBeUndefined()
  expect(await claimer.streams.takeOver('killed', 'r1', killed.id)).toMatchObject({ questions: [] })
  expect(await claimer.replica.claimDead()).toBeUndefined()
}, 30_000)

test('a claim that is not used ends, and the next replica takes over', async () => {
  const { url } = await server()
  const prefix = 'claims:'
  const [a, b] = [openStore(url, { prefix }), openStore(url, { prefix })]
  await a.sessions.create('twice', '{}', LIFE)
  await a.streams.open('twice', 'r1', '{}')
  const from = a.replica.id
  await a.replica.leave()
  const claimer = openStore(url, { prefix })
  await claim(claimer, from)
  expect(await b.replica.claimDead()).toBeUndefined()
  await claim(b, from)
  expect(await b.streams.takeOver('twice', 'r1', from)).toBeDefined()
})

test('no accepted event is lost, doubled or moved while Redis is restarted under load', async () => {
  const redisServer = await server()
  const store = openStore(redisServer.url)
  await store.sessions.create('load', '{}', LIFE)
  const producer = produce(store, 'load')
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    await until(() => producer.accepted.length > 200)
    await redisServer.stop(signal)
    await sleep(300)
    await redisServer.start()
    const before = producer.accepted.length
    await until(() => producer.accepted.length > before + 100)
  }
  await producer.stop()
  expect(producer.resent).toBeGreaterThan(0)
  expect(entered('restarts of Redis', producer, await readAll(store, 'load'))).toEqual({ lost: 0, duplicated: 0, reordered: 0 })
}, 60_000)

test('while Redis is down calls fail at once and health says why, and then they work again', async () => {
  const redisServer = await startRedis()
  opened.push(redisServer)
  const store = openStore(redisServer.url)
  await store.sessions.create('down', '{}', LIFE)
  expect(store.health()).toBeUndefined()
  await redisServer.stop()
  await expect(store.sessions.enter('down', undefined, 1)).rejects.toMatchObject(DOWN)
  await sleep(FAST.timeoutMs)
  const started = performance.now()
  const calls = Array.from({ length: 2000 }, () => store.sessions.enter('down', undefined, 1))
  const outcomes = await Promise.allSettled(calls)
  expect(performance.now() - started).toBeLessThan(1000)
  expect(new Set(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code))).toEqual(new Set(['ERR_STORE_DOWN']))
  expect(store.health()).toMatch(/^No connection to Redis: .*ECONNREFUSED/)
  await redisServer.start()
  await until(() => store.health() === undefined)
  expect(await store.sessions.enter('down', undefined, 1)).toBe('gone')
}, 30_000)

test('more calls than may wait for a lost connection fail at once', async () => {
  const redisServer = await startRedis()
  opened.push(redisServer)
  const store = openStore(redisServer.url, { timeoutMs: 3000 })
  await store.counters.kept('x')
  await redisServer.stop('SIGKILL')
  await until(() => store.health() !== undefined)
  const started = performance.now()
  const calls = Array.from({ length: 1200 }, () =>
    store.counters.kept('x').then(
      () => 'worked',
      () => performance.now() - started,
    ),
  )
  await sleep(100)
  await redisServer.start()
  const outcomes = await Promise.all(calls)
  expect(outcomes.filter((outcome) => outcome === 'worked')).toHaveLength(1000)
  for (const outcome of outcomes) if (outcome !== 'worked') expect(outcome).toBeLessThan(1000)
}, 30_000)

test('a store that was never reachable fails within its timeout', async () => {
  const store = openStore('redis://127.0.0.1:1')
  const started = performance.now()
  await expect(store.sessions.enter('x', undefined, 1)).rejects.toMatchObject(DOWN)
  expect(performance.now() - started).toBeLessThan(FAST.timeoutMs + 500)
  await store.close()
  await expect(store.sessions.enter('x', undefined, 1)).rejects.toMatchObject({ code: 'ERR_CLOSED' })
})

test('a connection that hangs is noticed, replaced, and adds nothing twice', async () => {
  const redisServer = await server()
  const proxy = await openProxy(redisServer.port)
  const store = openStore(`redis://127.0.0.1:${proxy.port}`, { leaseMs: 10_000 })
  const direct = openStore(redisServer.url)
  await store.sessions.create('hang', '{}', LIFE)
  const producer = produce(store, 'hang')
  for (const break_ of [() => proxy.hang('replies'), () => proxy.hang('both'), () => proxy.cut()]) {
    const before = producer.accepted.length
    await until(() => producer.accepted.length > before + 50)
    break_()
    await sleep(200)
    proxy.heal()
    const after = producer.accepted.length
    await until(() => producer.accepted.length > after + 50)
  }
  await producer.stop()
  expect(producer.resent).toBeGreaterThanOrEqual(3)
  expect(entered('hanging connections', producer, await readAll(direct, 'hang'))).toEqual({ lost: 0, duplicated: 0, reordered: 0 })
}, 60_000)

test('a process that had no processor time reads the replies that came meanwhile', async () => {
  const { url } = await server()
  const store = openStore(url, { prefix: 'starved:' })
  await store.sessions.create('starved', '{}', LIFE)
  const entering = Array.from({ length: 50 }, () => store.sessions.enter('starved', undefined, 1))
  // The commands are sent.
  await new Promise((resolve) => setImmediate(resolve))
  const until = performance.now() + FAST.timeoutMs + 300
  while (performance.now() < until);
  expect((await Promise.all(entering)).filter((each) => typeof each === 'object')).toHaveLength(50)
  expect(store.health()).toBeUndefined()
})

test('messages arrive after the connection of the inbox was cut or hung', async () => {
  const redisServer = await server()
  const proxy = await openProxy(redisServer.port)
  const store = openStore(`redis://127.0.0.1:${proxy.port}`, { leaseMs: 20_000 })
  const sender = openStore(redisServer.url)
  const got: string[] = []
  store.replica.listen((message) => message.kind === 'message' && got.push(message.json))
  await store.replica.join()
  await sender.replica.send(store.replica.id, '1')
  await until(() => got.length === 1)
  proxy.cut()
  await sender.replica.send(store.replica.id, '2')
  await until(() => got.length === 2)
  proxy.hang('both')
  await sender.replica.send(store.replica.id, '3')
  await sleep(200)
  proxy.heal()
  await until(() => got.length === 3)
  expect(got).toEqual(['1', '2', '3'])
}, 30_000)

test('a replica that cannot renew its lease is told before others take over, and joins again later', async () => {
  const redisServer = await server()
  const proxy = await openProxy(redisServer.port)
  const prefix = 'lease:'
  const store = openStore(`redis://127.0.0.1:${proxy.port}`, { timeoutMs: 200, prefix })
  const other = openStore(redisServer.url, { prefix })
  const got: StoreMessage[] = []
  store.replica.listen((message) => got.push(message))
  await store.sessions.create('lease', '{}', LIFE)
  await store.streams.open('lease', 'r1', '{}')
  const { id } = store.replica
  expect(store.replica.isHeld).toBe(true)
  proxy.hang('both')
  await until(() => got.length > 0)
  expect(got[0]).toMatchObject({ kind: 'lost', reason: expect.stringContaining('the lease could not be renewed') })
  expect(store.replica.isHeld).toBe(false)
  expect(await other.replica.claimDead()).toBeUndefined()
  await claim(other, id)
  proxy.heal()
  await until(() => store.replica.isHeld)
  expect(store.replica.id).not.toBe(id)
  expect(got.at(-1)).toEqual({ kind: 'missed' })
  await other.replica.send(store.replica.id, '"again"')
  await until(() => got.some((message) => message.kind === 'message'))
}, 30_000)

test('a batch that is sent again after the lease was lost is still added once', async () => {
  const redisServer = await server()
  const proxy = await openProxy(redisServer.port)
  const store = openStore(`redis://127.0.0.1:${proxy.port}`, { leaseMs: 500, timeoutMs: 200, prefix: 'again:' })
  const direct = openStore(redisServer.url, { prefix: 'again:' })
  await store.sessions.create('s', '{}', LIFE)
  await store.replica.join()
  await store.streams.append('s', '0', { n: 1, events: [{ json: '1' }] }, BOUNDS)
  const { id } = store.replica
  proxy.hang('replies')
  const batch = { n: 2, events: [{ json: '2' }] }
  await expect(store.streams.append('s', '0', batch, BOUNDS)).rejects.toMatchObject(DOWN)
  await until(() => store.replica.id !== id)
  proxy.heal()
  await until(() => store.replica.isHeld)
  expect(await store.streams.append('s', '0', batch, BOUNDS)).toMatchObject({ positions: [expect.any(String)] })
  expect((await readAll(direct, 's')).map(({ json }) => json)).toEqual(['1', '2'])
}, 30_000)

test('after a failover that lost writes, lost positions are errors and epochs do not go back', async () => {
  const { url, cli } = await server()
  const prefix = 'lossy:'
  const [a, b] = [openStore(url, { prefix }), openStore(url, { prefix })]
  await a.sessions.create('s', '{}', LIFE)
  const epoch = (await a.streams.open('s', 'r1', '{}')) as number
  const names = ['stream:r1', 'log:r1'].map((name) => `lossy:{s}:${name}`)
  const add = async (store: RedisStore, n: number, of: number) => {
    const appended = await store.streams.append('s', 'r1', { n, epoch: of, events: [{ json: String(n) }] }, BOUNDS)
    return typeof appended === 'string' ? appended : String(appended.positions[0])
  }
  const kept = await add(a, 1, epoch)
  for (const name of names) await cli('COPY', name, `${name}:before`)
  const lost = await add(a, 2, epoch)
  const taken = await b.streams.takeOver('s', 'r1', a.replica.id)
  // As if Redis had come back without the last writes.
  for (const name of names) await cli('RENAME', `${name}:before`, name)
  expect(await b.streams.attach('s', 'r1', lost, 10)).toBe('lost')
  await sleep(2)
  const other = await add(a, 3, epoch)
  expect(other.split('-')[1]).toBe(lost.split('-')[1])
  expect(await b.streams.attach('s', 'r1', lost, 10)).toBe('lost')
  expect(await b.streams.attach('s', 'r1', kept, 10)).toMatchObject({ events: [{ position: other, json: '3' }] })
  const again = await b.streams.takeOver('s', 'r1', a.replica.id)
  expect(again!.epoch).toBeGreaterThan(taken!.epoch)
  expect(await add(a, 4, epoch)).toBe('fenced')
})

test('a replica whose inbox overflowed is told so', async () => {
  const redisServer = await server()
  const proxy = await openProxy(redisServer.port)
  const store = openStore(`redis://127.0.0.1:${proxy.port}`, { leaseMs: 30_000, timeoutMs: 3000 })
  const sender = openStore(redisServer.url)
  const got: StoreMessage[] = []
  store.replica.listen((message) => got.push(message))
  await store.replica.join()
  await sender.replica.send(store.replica.id, '0')
  await until(() => got.length === 1)
  proxy.hang('both')
  for (let round = 0; round < 11; round++) await Promise.all(Array.from({ length: 1000 }, () => sender.replica.send(store.replica.id, '1')))
  proxy.heal()
  proxy.cut()
  await until(() => got.some(({ kind }) => kind === 'missed'))
}, 60_000)

test('a request that ended while Redis was down does not count as in progress for ever', async () => {
  const redisServer = await server()
  const proxy = await openProxy(redisServer.port)
  const store = openStore(`redis://127.0.0.1:${proxy.port}`, { leaseMs: 20_000 })
  await store.sessions.create('late', '{}', LIFE)
  await store.sessions.enter('late', '1', 2)
  proxy.hang('replies')
  await expect(store.sessions.enter('late', '2', 2)).rejects.toMatchObject(DOWN)
  await expect(store.sessions.leave('late', '1')).rejects.toMatchObject(DOWN)
  proxy.heal()
  await until(async () => (await redisServer.cli('HLEN', 'portico:{late}:calls')) === '0')
})

test('a request that ended while Redis was down does not take its id from another replica', async () => {
  const redisServer = await server()
  const proxy = await openProxy(redisServer.port)
  const store = openStore(`redis://127.0.0.1:${proxy.port}`, { leaseMs: 20_000 })
  const other = openStore(redisServer.url)
  await store.sessions.create('again', '{}', LIFE)
  await other.replica.join()
  await store.sessions.enter('again', '1', 9)
  proxy.hang('both')
  await expect(store.sessions.enter('again', '4', 9)).rejects.toMatchObject(DOWN)
  expect(await other.sessions.enter('again', '4', 9)).toMatchObject({ record: '{}' })
  await expect(store.sessions.leave('again', '1')).rejects.toMatchObject(DOWN)
  proxy.heal()
  proxy.cut()
  await until(async () => (await redisServer.cli('HEXISTS', 'portico:{again}:calls', '1')) === '0')
  expect(await other.sessions.cancel('again', '4')).toBe(other.replica.id)
})

test('a leave whose reply was lost does not end the next request with the id', async () => {
  const redisServer = await server()
  const proxy = await openProxy(redisServer.port)
  const store = openStore(`redis://127.0.0.1:${proxy.port}`, { leaseMs: 20_000 })
  await store.sessions.create('next', '{}', LIFE)
  for (const call of ['1', '2']) await store.sessions.enter('next', call, 9)
  // Redis knows the script from now on.
  await store.sessions.leave('next', '0')
  proxy.hang('replies')
  await expect(Promise.all(['1', '2'].map((call) => store.sessions.leave('next', call)))).rejects.toMatchObject(DOWN)
  await redisServer.cli('HSET', 'portico:{next}:calls', '2', `${store.replica.id} earlier`)
  proxy.heal()
  proxy.cut()
  await until(async () => (await store.sessions.enter('next', '1', 9).catch(() => undefined)) !== undefined)
  await until(async () => (await redisServer.cli('HEXISTS', 'portico:{next}:calls', '2')) === '0')
  expect(await store.sessions.cancel('next', '1')).toBe(store.replica.id)
})

test('a takeover whose reply was lost is completed when it is tried again', async () => {
  const redisServer = await server()
  const proxy = await openProxy(redisServer.port)
  const store = openStore(`redis://127.0.0.1:${proxy.port}`, { leaseMs: 20_000 })
  const dead = openStore(redisServer.url)
  await dead.sessions.create('reply', '{}', LIFE)
  const epoch = (await dead.streams.open('reply', 'r1', '"call"')) as number
  // Redis knows the script from now on. Then the first two commands of a takeover succeed, and the third one gets no reply.
  expect(await store.streams.takeOver('reply', 'r1', 'nobody')).toBeUndefined()
  await sleep(50)
  const { id } = dead.replica
  proxy.hang('replies', 2)
  await expect(store.streams.takeOver('reply', 'r1', id)).rejects.toMatchObject(DOWN)
  expect(await redisServer.cli('HGET', 'portico:{reply}:stream:r1', 'owner')).toBe(store.replica.id)
  proxy.heal()
  await until(async () =>
    store.counters.kept('x').then(
      () => true,
      () => false,
    ),
  )
  expect(await store.streams.takeOver('reply', 'r1', id)).toMatchObject({ call: '"call"' })
  expect(await store.streams.takeOver('reply', 'r1', id)).toBeUndefined()
  expect(await dead.streams.append('reply', 'r1', { n: 1, epoch, events: [] }, BOUNDS)).toBe('fenced')
})

test('a missing client library is named in the error', async () => {
  vi.resetModules()
  vi.doMock('ioredis', () => {
    throw new Error('Cannot find package ioredis')
  })
  const { redis: withoutLibrary } = await import('../../src/redis/index.ts')
  const store = withoutLibrary('redis://127.0.0.1:1')
  await expect(store.counters.kept('x')).rejects.toThrow('portico/redis needs the package ioredis. Install it: npm install ioredis')
  vi.doUnmock('ioredis')
  await store.close()
})

test('a server does not start without the client library of its store', async () => {
  vi.resetModules()
  vi.doMock('ioredis', () => {
    throw new Error('Cannot find package ioredis')
  })
  const { redis: withoutLibrary } = await import('../../src/redis/index.ts')
  const store = withoutLibrary('redis://127.0.0.1:1')
  const listening = listen(createServer({ name: 'shared', version: '1' }), { store }).then(({ close }) => close())
  await expect(listening).rejects.toThrow('npm install ioredis')
  vi.doUnmock('ioredis')
  await store.close()
})

async function withFullRedis(run: (server: RedisServer) => Promise<void>): Promise<void> {
  const full = await startRedis(['--maxmemory', '1', '--maxmemory-policy', 'noeviction'])
  opened.push(full)
  await run(full)
}

test('a Redis that became a replica counts as down, and the store connects again', async () => {
  const demoted = await startRedis()
  opened.push(demoted)
  const store = openStore(demoted.url, { connection: { connectionName: 'writer' } })
  await store.counters.put('x', '1', 60_000)
  const idOfConnection = async () => /id=(\d+) .* name=writer /.exec(await demoted.cli('CLIENT', 'LIST'))?.[1]
  const first = await idOfConnection()
  await demoted.cli('REPLICAOF', '127.0.0.1', '1')
  await expect(store.sessions.create('x', '{}', LIFE)).rejects.toMatchObject({
    code: 'ERR_STORE_DOWN',
    message: expect.stringContaining('READONLY'),
  })
  await until(async () => ![first, undefined].includes(await idOfConnection()))
  await demoted.cli('REPLICAOF', 'NO', 'ONE')
  await store.sessions.create('x', '{}', LIFE)
})

test('an error of a refused command does not contain what was to be stored', () =>
  withFullRedis(async (full) => {
    const store = openStore(full.url)
    const refused = (await store.sessions.create('x', '{"note":"SECRET-4711"}', LIFE).catch((error: unknown) => error)) as Error
    const shown = [inspect(refused, { depth: Number.POSITIVE_INFINITY }), JSON.stringify({ ...refused, ...(refused.cause as Error) })]
    expect(shown.join()).toContain('OOM')
    for (const text of shown) expect(text).not.toContain('SECRET-4711')
    expect(JSON.stringify(refused.cause)).not.toContain('EVALSHA')
  }))

test('a Redis without memory left counts as down', () =>
  withFullRedis(async (full) => {
    const store = openStore(full.url)
    await expect(store.sessions.create('x', '{}', LIFE)).rejects.toMatchObject({
      code: 'ERR_STORE_DOWN',
      message: expect.stringContaining('OOM'),
    })
    expect(store.health()).toContain('OOM')
    await full.cli('CONFIG', 'SET', 'maxmemory', '0')
    await store.sessions.create('x', '{}', LIFE)
    expect(store.health()).toBeUndefined()
  }))
