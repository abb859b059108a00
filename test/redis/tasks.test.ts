/** How tasks are laid out in Redis: what each operation moves, and what stays behind. */

import { randomBytes } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { type RedisOptions, type RedisStore, redis } from '../../src/redis/index.ts'
import { type KeyRing, keyRing } from '../../src/server/index.ts'
import type { TaskRecord } from '../../src/tasks/index.ts'
import { sampleTask } from '../../src/testing/check-task-store.ts'
import { redisOfFile } from '../support/redis-server.ts'

const server = redisOfFile()
const CAPS = { perAccount: 99, total: 99 }
const MIB = 1024 * 1024
const keys: KeyRing = keyRing('the secret of all replicas, of 32 characters or more')

const opened: RedisStore[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

/** Replicas with a prefix of their own. */
async function replicas(options: RedisOptions = {}) {
  const { url, cli } = await server()
  const prefix = `${randomBytes(6).toString('hex')}:`
  const open = (more: RedisOptions = {}): RedisStore => {
    const store = redis(url, { prefix, keys, ...options, ...more })
    opened.push(store)
    return store
  }
  return { open, cli, prefix }
}

/** The bytes that Redis gets and gives meanwhile. */
async function bytesOf(act: () => Promise<unknown>): Promise<number> {
  const { cli } = await server()
  const traffic = async (): Promise<number> => {
    const stats = await cli('INFO', 'stats')
    return ['input', 'output'].reduce((sum, way) => sum + Number(new RegExp(`total_net_${way}_bytes:(\\d+)`).exec(stats)?.[1]), 0)
  }
  const before = await traffic()
  await act()
  return (await traffic()) - before
}

const large = (taskId: string, more: Partial<TaskRecord> = {}): TaskRecord =>
  sampleTask(taskId, {
    createdAt: Date.now(),
    ttlMs: 60_000,
    params: { name: 'work', arguments: { text: 'x'.repeat(MIB) } },
    lease: { holder: 'h', epoch: 1, until: Date.now() + 30_000 },
    ...more,
  })

test('a list, a head and a look for neglected tasks move no content', async () => {
  const { tasks } = (await replicas()).open()
  const ids = ['a', 'b', 'c', 'd']
  for (const id of ids) await tasks.create(large(id), CAPS)
  const result = { isError: true, content: [{ type: 'text', text: 'y'.repeat(MIB) }] }
  await tasks.replace(large('d', { edition: 2, status: 'completed', outcome: { result } }))
  const end = Date.now() + 120_000
  const moved = await bytesOf(async () => {
    expect((await tasks.list('o')).map(({ taskId }) => taskId)).toEqual(ids)
    expect((await tasks.neglected(end)).map(({ taskId }) => taskId).sort()).toEqual(ids)
    expect(await tasks.head('o', 'a')).toMatchObject({ taskId: 'a', tool: 'work', account: 'x' })
  })
  expect(moved).toBeLessThan(100_000)
})

test('a renewal moves no content, tells nobody, and counts for the search for neglected tasks', async () => {
  const { open } = await replicas()
  const [{ tasks }, { tasks: others }] = [open(), open()]
  const task = large('a')
  await tasks.create(task, CAPS)
  let news = 0
  const stop = others.watch?.('o', 'a', () => news++)
  const until = Date.now() + 50_000
  await new Promise((resolve) => setTimeout(resolve, 300))
  const moved = await bytesOf(async () => {
    for (let at = 0; at < 5; at++) expect(await tasks.renew('o', 'a', { ...task.lease, until: until + at })).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 600))
  })
  stop?.()
  expect([moved < 50_000, news]).toEqual([true, 0])
  expect(await others.neglected(until)).toEqual([])
  expect(await others.neglected(until + 4)).toMatchObject([{ taskId: 'a', edition: 1, lease: { until: until + 4 } }])
  // A change that was prepared before the renewal does not undo it.
  expect(await others.replace({ ...task, edition: 2, statusMessage: 'half' })).toBe(true)
  expect((await tasks.read('o', 'a'))?.lease.until).toBe(until + 4)
  expect(await others.neglected(until + 3)).toEqual([])
})

test('the head of a task cannot take the place of its record', async () => {
  const { open, cli, prefix } = await replicas()
  const { tasks } = open()
  await tasks.create(large('a'), CAPS)
  const key = (await cli('KEYS', `${prefix}{tasks:*}:a`)).trim()
  await cli('EVAL', "return redis.call('HSET', KEYS[1], 'record', redis.call('HGET', KEYS[1], 'head'))", '1', key)
  await expect(tasks.read('o', 'a')).rejects.toThrow('A value in Redis (a task) was changed, moved, or sealed with another key')
  expect(await tasks.head('o', 'a')).toMatchObject({ taskId: 'a' })
})

test('a change that fails, because another one was faster, leaves the bytes of what Redis has', async () => {
  const { open } = await replicas({ tasks: { maxBytesPerCaller: 2 * MIB } })
  const [{ tasks: a }, { tasks: b }] = [open(), open()]
  const small = (taskId: string, more: Partial<TaskRecord> = {}): TaskRecord => large(taskId, { params: {}, ...more })
  const done = { status: 'completed', outcome: { result: { text: 'x'.repeat(MIB) } } } as const
  await a.create(small('a'), CAPS)
  expect(await a.replace(small('a', { edition: 2, ...done }))).toBe(true)
  expect(await b.replace(small('a', { edition: 2, status: 'cancelled' }))).toBe(false)
  await expect(a.create(large('b'), CAPS)).rejects.toMatchObject({ code: 'ERR_LIMIT', data: { limit: 'maxBytesPerCaller' } })
  await a.remove('o', 'a')
  await a.create(small('c'), CAPS)
  expect(await a.replace(small('c', { edition: 2, status: 'cancelled' }))).toBe(true)
  expect(await b.replace(small('c', { edition: 2, ...done }))).toBe(false)
  expect(await a.create(large('d'), CAPS)).toBeUndefined()
})

test('a change after one of another replica is counted, although it is as large as the own one before', async () => {
  const { open, cli, prefix } = await replicas()
  const [{ tasks: a }, { tasks: b }] = [open(), open()]
  const counted = async (): Promise<number> => Number(await cli('HGET', `${prefix}{bytes:}:sizes`, 'sum'))
  const answered = { received: { name: 'x'.repeat(MIB) } }
  const task = large('a', { params: {} })
  await b.create(task, CAPS)
  for (const [at, [store, more]] of (
    [
      [a, answered],
      [b, {}],
      [a, answered],
    ] as const
  ).entries()) {
    expect(await store.replace({ ...task, ...more, edition: at + 2 })).toBe(true)
    expect((await counted()) > MIB).toBe('received' in more)
  }
})

test('a full store has room for the end of a task at every replica', async () => {
  const { open, cli, prefix } = await replicas()
  const first = open().tasks
  await first.create(large('a'), CAPS)
  const maxBytes = Number(await cli('HGET', `${prefix}{bytes:}:sizes`, 'sum'))
  const { tasks } = open({ tasks: { maxBytes, maxBytesPerCaller: maxBytes } })
  await expect(tasks.create(large('b', { params: {} }), CAPS)).rejects.toMatchObject({ code: 'ERR_LIMIT' })
  expect(await tasks.replace(large('a', { edition: 2, status: 'cancelled', statusMessage: 'x'.repeat(500) }))).toBe(true)
})

test.each<[string, (store: RedisStore) => Promise<unknown>]>([
  ['a list', ({ tasks }) => tasks.list('o')],
  ['a look for neglected tasks', ({ tasks }) => tasks.neglected(Date.now() + 120_000)],
])('%s forgets the ids of tasks that have expired', async (_what, look) => {
  const { open, cli, prefix } = await replicas()
  const store = open()
  for (const id of ['a', 'b', 'c']) await store.tasks.create(large(id, { params: {} }), CAPS)
  const [ofOwner = ''] = (await cli('KEYS', `${prefix}{tasks:*}`)).split('\n')
  await cli('DEL', `${ofOwner}:a`, `${ofOwner}:c`)
  await look(store)
  expect(await cli('ZRANGE', ofOwner, '0', '-1')).toBe('b')
})

test('a task whose creation takes longer than a lease is found when its process dies', async () => {
  const { open } = await replicas({ leaseMs: 300 })
  const slow: KeyRing = {
    current: async () => {
      await new Promise((resolve) => setTimeout(resolve, 700))
      return keys.current()
    },
    find: (id) => keys.find(id),
  }
  const [dying, other] = [open({ keys: slow }), open()]
  const lease = { holder: 'h', epoch: 1, until: Date.now() + 300 }
  let isCreated = false
  const creating = dying.tasks.create(sampleTask('slow', { createdAt: Date.now(), ttlMs: 600_000, lease }), CAPS).finally(() => {
    isCreated = true
  })
  while (!isCreated) await other.tasks.neglected(Date.now())
  expect(await creating).toBeUndefined()
  expect((await other.tasks.neglected(Date.now())).map(({ taskId }) => taskId)).toEqual(['slow'])
  expect((await other.tasks.list('o')).map(({ taskId }) => taskId)).toEqual(['slow'])
})
