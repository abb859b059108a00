import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fileTaskStore, memoryTaskStore, type TaskRecord, type TaskStore } from '../../src/tasks/index.ts'
import { checkTaskStore } from '../../src/testing/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { extensionClient, taskServer } from './task-server.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const temporaryFolder = temporaryFolders()

test('the store in memory keeps the rules of a store', () => checkTaskStore(() => memoryTaskStore()))

test('the store of files keeps the rules of a store', () => checkTaskStore(() => fileTaskStore(temporaryFolder())), 30_000)

describe('the check of stores', () => {
  const broken = (change: (store: TaskStore) => Partial<TaskStore>): (() => TaskStore) => {
    return () => {
      const store = memoryTaskStore()
      return { ...store, ...change(store) }
    }
  }

  test.each<[string, () => TaskStore]>([
    ['forgets a change', broken(() => ({ replace: async () => true }))],
    ['ignores the limits', broken((store) => ({ create: (task) => store.create(task, { perAccount: 99, total: 99 }) }))],
    ['ignores the owner', broken((store) => ({ read: (_owner, id) => store.read('o', id) }))],
    ['neglects nothing', broken(() => ({ neglected: async () => [] }))],
  ])('finds a store that %s', async (_what, make) => {
    await expect(checkTaskStore(make)).rejects.toThrow('TaskStore, ')
  })
})

const TASK: TaskRecord = {
  taskId: 'a',
  owner: 'o',
  account: 'o',
  edition: 1,
  tool: 't',
  params: {},
  caller: { client: undefined, capabilities: {}, auth: undefined, revision: '' },
  status: 'working',
  createdAt: 0,
  updatedAt: 0,
  ttlMs: 1,
  pollIntervalMs: 1,
  questions: {},
  received: {},
  journal: { callId: '', asked: {}, answers: {}, steps: {} },
  lease: { holder: '', epoch: 1, until: 0 },
  runs: 1,
}

test('files of tasks are private, and a damaged file does not hide the other tasks', async () => {
  const folder = temporaryFolder()
  const store = fileTaskStore(folder)
  const task = TASK
  const caps = { perAccount: 9, total: 9 }
  await store.create(task, caps)
  await store.create({ ...task, taskId: 'b' }, caps)
  const [owner = ''] = readdirSync(folder)
  const files = readdirSync(join(folder, owner)).sort()
  expect(files).toEqual(['a.json', 'b.json'])
  for (const file of files) expect(statSync(join(folder, owner, file)).mode & 0o777).toBe(0o600)
  writeFileSync(join(folder, owner, 'a.json'), '{"broken')
  expect((await store.list('o')).map(({ taskId }) => taskId)).toEqual(['b'])
  await expect(store.read('o', 'a')).rejects.toMatchObject({ code: 'ERR_STORE' })
})

test('counting, listing and tending read only the first lines of files, so that large tasks cost no memory', async () => {
  const folder = temporaryFolder()
  const caps = { perAccount: 3, total: 9 }
  const outcome = { result: { isError: true, content: [{ type: 'text', text: 'x'.repeat(100_000) }] } }
  const first = fileTaskStore(folder)
  for (const taskId of ['a', 'b', 'c']) {
    await first.create({ ...TASK, taskId, params: { text: 'x'.repeat(100_000) } }, caps)
    await first.replace({ ...TASK, taskId, edition: 2, status: 'completed', ttlMs: taskId === 'a' ? 1 : 1000, outcome })
  }
  const [owner = ''] = readdirSync(folder)
  for (const name of readdirSync(join(folder, owner))) {
    const file = join(folder, owner, name)
    const [head = ''] = readFileSync(file, 'utf8').split('\n')
    expect(head.length).toBeLessThan(2000)
    writeFileSync(file, `${head}\nnot read`)
  }
  const store = fileTaskStore(folder)
  expect(await store.create({ ...TASK, taskId: 'd' }, caps)).toBe('account-full')
  expect(await store.create({ ...TASK, taskId: 'd', account: 'p' }, caps)).toBe(undefined)
  expect((await store.list('o')).map(({ taskId }) => taskId)).toEqual(['a', 'b', 'c', 'd'])
  expect((await store.neglected(10)).map(({ taskId }) => taskId).sort()).toEqual(['a', 'd'])
  expect(await store.head('o', 'b')).toMatchObject({ tool: 't', status: 'completed', outcome: { result: { isError: true } } })
  await expect(store.read('o', 'b')).rejects.toMatchObject({ code: 'ERR_STORE' })
})

test('tasks can be created while the last task of their owner is removed', async () => {
  const folder = temporaryFolder()
  const stores = [fileTaskStore(folder), fileTaskStore(folder)] as const
  const work = async (store: TaskStore, name: string): Promise<void> => {
    for (let i = 0; i < 40; i++) {
      await store.create({ ...TASK, taskId: `${name}${i}` }, { perAccount: 9, total: 9 })
      await store.remove('o', `${name}${i}`)
    }
  }
  await Promise.all([work(stores[0], 'a'), work(stores[0], 'b'), work(stores[1], 'c')])
})

test('renewing a lease does not write the task again', async () => {
  const folder = temporaryFolder()
  const store = fileTaskStore(folder)
  const task = { ...TASK, params: { text: 'x'.repeat(100_000) }, ttlMs: 1000, lease: { holder: 'h', epoch: 1, until: 5 } }
  await store.create(task, { perAccount: 9, total: 9 })
  const file = join(folder, readdirSync(folder)[0] ?? '', 'a.json')
  const before = statSync(file, { bigint: true })
  let changes = 0
  const stop = store.watch?.('o', 'a', () => changes++)
  for (let until = 6; until <= 10; until++) expect(await store.renew('o', 'a', { ...task.lease, until })).toBe(true)
  expect(statSync(file, { bigint: true })).toMatchObject({ ino: before.ino, mtimeNs: before.mtimeNs })
  expect(statSync(`${file}.lease`).size).toBeLessThan(100)
  expect([await store.neglected(9), (await store.neglected(10)).length]).toEqual([[], 1])
  // A change that was prepared before the renewal does not undo it.
  expect(await store.replace({ ...task, edition: 2 })).toBe(true)
  expect((await store.read('o', 'a'))?.lease.until).toBe(10)
  await expect.poll(() => changes).toBe(1)
  stop?.()
  // A damaged lease is ignored: then the lease of the task decides.
  writeFileSync(`${file}.lease`, '{', { mode: 0o600 })
  expect((await store.read('o', 'a'))?.lease.until).toBe(5)
  await store.remove('o', 'a')
  expect(readdirSync(folder)).toEqual([])
})

describe('the size of the folder of tasks is limited', () => {
  const CAPS = { perAccount: 99, total: 99 }
  /** What a task counts beyond its file. */
  const EXTRA = 4096
  const large = (taskId: string, more: Partial<TaskRecord> = {}): TaskRecord => ({
    ...TASK,
    taskId,
    ttlMs: 1000,
    params: { text: 'x'.repeat(50_000) },
    ...more,
  })
  const sizeIn = (folder: string): number => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'))
    return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  }
  /** The bytes of a task as a file. */
  async function sizeOf(task: TaskRecord): Promise<number> {
    const folder = temporaryFolder()
    await fileTaskStore(folder).create(task, CAPS)
    return sizeIn(folder)
  }

  test.each([
    ['maxBytes', 'p', 'All tasks together take more than'],
    ['maxBytesPerCaller', 'o', 'The tasks of one caller take more than'],
  ])('%s holds to the byte, also for two stores of a folder, and room is given back', async (limit, account, message) => {
    const size = (await sizeOf(large('a'))) + EXTRA
    const folder = temporaryFolder()
    const exact = fileTaskStore(folder, { [limit]: 2 * size })
    const less = fileTaskStore(folder, { [limit]: 2 * size - 1 })
    await exact.create(large('a'), CAPS)
    const refusal = { code: 'ERR_LIMIT', message: expect.stringContaining(message), data: { reason: 'limit', limit, max: 2 * size - 1 } }
    await expect(less.create(large('b', { account }), CAPS)).rejects.toMatchObject(refusal)
    expect(await exact.create(large('b', { account }), CAPS)).toBeUndefined()
    await expect(exact.create(large('c', { account }), CAPS)).rejects.toMatchObject({ code: 'ERR_LIMIT', data: { limit } })
    expect(sizeIn(folder)).toBeLessThanOrEqual(2 * size)
    await less.remove('o', 'a')
    expect(await exact.create(large('c', { account }), CAPS)).toBeUndefined()
  })

  test('another caller still has room when one has none', async () => {
    const size = (await sizeOf(large('a'))) + EXTRA
    const store = fileTaskStore(temporaryFolder(), { maxBytesPerCaller: size })
    await store.create(large('a'), CAPS)
    await expect(store.create(large('b'), CAPS)).rejects.toMatchObject({ data: { limit: 'maxBytesPerCaller', max: size } })
    expect(await store.create(large('b', { account: 'p' }), CAPS)).toBeUndefined()
  })

  test('tasks that are created at the same time stay within the limit', async () => {
    const size = (await sizeOf(large('aa'))) + EXTRA
    const folder = temporaryFolder()
    const store = fileTaskStore(folder, { maxBytes: 3 * size })
    const created = await Promise.allSettled(Array.from({ length: 10 }, (_, i) => store.create(large(`a${i}`), CAPS)))
    expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    const grown = await Promise.allSettled(
      [0, 1, 2].map((i) => store.replace(large(`a${i}`, { edition: 2, statusMessage: 'x'.repeat(9000) }))),
    )
    expect(grown.every(({ status }) => status === 'rejected')).toBe(true)
    expect(sizeIn(folder)).toBeLessThanOrEqual(3 * size)
  })

  test('a full folder has room for the reasons of tasks that end, and a result that does not fit fails', async () => {
    const text = 'x'.repeat(20_000)
    const folder = temporaryFolder()
    const { server, go } = taskServer({ store: fileTaskStore(folder, { maxBytes: 60_000 }) })
    server.tool('copy', { task: 'required', input: z.object({ text: z.string() }) }, () => go.opened as Promise<string>)
    const client = extensionClient(server)
    const taskIds = [(await client.call('copy', { text })).result.taskId, (await client.call('copy', { text })).result.taskId]
    expect((await client.call('copy', { text })).error).toMatchObject({ data: { limit: 'maxBytes', max: 60_000 } })
    go.open(text)
    for (const taskId of taskIds)
      expect((await client.reach(taskId, 'failed')).error).toMatchObject({
        message: 'All tasks together take more than 60000 bytes (maxBytes of fileTaskStore)',
        data: { limit: 'maxBytes', max: 60_000 },
      })
    expect(sizeIn(folder)).toBeLessThanOrEqual(60_000)
  })

  test('a limit that is not a number is an error', () => {
    expect(() => fileTaskStore('x', { maxBytes: Number.NaN })).toThrow('maxBytes is not a number')
  })
})

describe('the memory for tasks is limited', () => {
  const store = () => memoryTaskStore({ maxBytes: 200_000 })

  test('a task whose result does not fit fails with the reason, and others go on', async () => {
    const { server } = taskServer({ store: store() })
    server.tool('large', { task: 'required' }, () => 'x'.repeat(300_000))
    server.tool('fits', { task: 'required' }, () => 'x'.repeat(80_000))
    const client = extensionClient(server)
    const failed = await client.reach((await client.call('large')).result.taskId, 'failed')
    expect(failed.error).toMatchObject({
      message: expect.stringContaining('maxBytes of memoryTaskStore'),
      data: { limit: 'maxBytes', max: 200_000 },
    })
    for (let i = 0; i < 2; i++) await client.reach((await client.call('fits')).result.taskId, 'completed')
    await client.reach((await client.call('fits')).result.taskId, 'failed')
  })

  test('another caller still has room when one has none, and the tasks of a full caller can end', async () => {
    const { server, go } = taskServer({ store: memoryTaskStore({ maxBytesPerCaller: 100_000 }), ttlMs: 600_000 })
    const input = z.object({ text: z.string() })
    server.tool('keep', { task: 'required', input }, async () => `${(await go.opened) as string}`)
    const [one, other] = [extensionClient(server, { principal: 'one' }), extensionClient(server, { principal: 'other' })]
    const text = 'x'.repeat(45_000)
    const { taskId } = (await one.call('keep', { text })).result
    expect((await one.call('keep', { text })).result.taskId).toBeDefined()
    const limit = { data: { limit: 'maxBytesPerCaller', max: 100_000 } }
    expect((await one.call('keep', { text })).error).toMatchObject(limit)
    expect((await other.call('keep', { text })).result.taskId).toBeDefined()
    go.open('y'.repeat(10_000))
    expect((await one.reach(taskId, 'failed')).error).toMatchObject(limit)
  })

  test('the tasks of one caller may take a part of it, so that others have room', async () => {
    const tasks = memoryTaskStore({ maxBytes: 200_000, maxBytesPerCaller: 60_000 })
    const create = (taskId: string, account: string, chars: number) =>
      tasks.create({ ...TASK, taskId, account, params: { text: 'x'.repeat(chars) } }, { perAccount: 9, total: 9 })
    await create('1', 'ann', 50_000)
    const full = { code: 'ERR_LIMIT', data: { limit: 'maxBytesPerCaller', max: 60_000 } }
    await expect(create('2', 'ann', 10_000)).rejects.toMatchObject(full)
    const [task] = await tasks.list(TASK.owner)
    const grown = { ...(task as TaskRecord), edition: (task as TaskRecord).edition + 1, params: { text: 'x'.repeat(70_000) } }
    await expect(tasks.replace(grown)).rejects.toMatchObject(full)
    await create('3', 'bob', 50_000)
    await tasks.remove(TASK.owner, '1')
    await create('4', 'ann', 50_000)
  })

  test('one caller may take 32 MiB by default', async () => {
    const tasks = memoryTaskStore()
    const caps = { perAccount: 99, total: 99 }
    const create = (i: number) =>
      tasks.create({ ...TASK, taskId: String(i), account: 'ann', params: { text: String(i).repeat(4_000_000) } }, caps)
    for (let i = 1; i <= 8; i++) await create(i)
    await expect(create(9)).rejects.toMatchObject({ data: { limit: 'maxBytesPerCaller', max: 32 * 1024 * 1024 } })
  })

  test('a call does not become a task if there is no room for it, and room is given back', async () => {
    const { server } = taskServer({ store: store(), ttlMs: 300 })
    server.tool('keep', { task: 'required', input: z.object({ text: z.string() }) }, () => new Promise<string>(() => {}))
    const client = extensionClient(server)
    const large = { text: 'x'.repeat(190_000) }
    expect((await client.call('keep', large)).result.taskId).toBeDefined()
    expect((await client.call('keep', large)).error).toMatchObject({ data: { limit: 'maxBytes' } })
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect((await client.call('keep', large)).result.taskId).toBeDefined()
  })

  test.each<[string, (length: number) => unknown]>([
    ['empty objects', (length) => Array.from({ length }, () => ({}))],
    ['objects with names of their own', (length) => Array.from({ length }, (_, i) => ({ [`k${i}`]: 1 }))],
    ['one text of wide characters', (length) => String.fromCharCode(0x4e00 + (length % 100)).repeat(length * 20)],
  ])('%s count with the memory that they take', async (_what, make) => {
    const heapOf = (): number => {
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    const text = JSON.stringify(make(50_000))
    const before = heapOf()
    const kept = Array.from({ length: 4 }, () => JSON.parse(text) as unknown)
    const taken = (heapOf() - before) / kept.length
    const maxBytes = Math.round(taken * 0.8)
    const params = { value: kept[0] }
    const refused = memoryTaskStore({ maxBytes }).create({ ...TASK, params }, { perAccount: 9, total: 9 })
    await expect(refused).rejects.toMatchObject({ code: 'ERR_LIMIT', data: { limit: 'maxBytes', max: maxBytes } })
    const enough = memoryTaskStore({ maxBytes: taken * 3 })
    expect(await enough.create({ ...TASK, params }, { perAccount: 9, total: 9 })).toBeUndefined()
  })

  test('a step that does not fit fails in the handler', async () => {
    const { server } = taskServer({ store: store() })
    server.tool('steps', { task: 'required' }, (_args, ctx) =>
      ctx
        .once('a', () => 'x'.repeat(300_000))
        .then(
          () => 'kept',
          (error: { code: string }) => error.code,
        ),
    )
    const client = extensionClient(server)
    const { result } = await client.reach((await client.call('steps')).result.taskId, 'completed')
    expect(result.content[0].text).toBe('ERR_LIMIT')
  })
})
