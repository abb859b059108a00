import { describe, expect, test } from 'vitest'
import { McpError } from '../../src/server/index.ts'
import { memoryTaskStore, type TaskRecord, type TaskStore } from '../../src/tasks/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { gate } from '../support/http-service.ts'
import { settle } from '../support/raw-channel.ts'
import { extensionClient, taskServer } from './task-server.ts'

const LEASE_MS = 1000
const DAY_MS = 24 * 60 * 60_000

/** A server that shares a store, with a tool that can be started again. */
function sharing(store: TaskStore) {
  const clock = fakeClock()
  const { server, errors } = taskServer({ store, leaseMs: LEASE_MS }, { clock })
  let runs = 0
  server.tool('again', { task: 'required', restartable: true }, () => {
    runs++
    return new Promise<string>(() => {})
  })
  return { clock, server, errors, client: extensionClient(server), runs: () => runs }
}

test('a damaged task does not stop the others: they are continued, and requests about tasks are answered', async () => {
  const memory = memoryTaskStore()
  let damaged = ''
  const read: TaskStore['read'] = async (owner, taskId) => {
    if (taskId === damaged) throw new McpError('ERR_STORE', `/private/${taskId}.json is not a task`)
    return memory.read(owner, taskId)
  }
  const store = { ...memory, read, isShared: true }
  const before = sharing(store)
  const ids: string[] = []
  for (const tool of ['again', 'again', 'quick']) ids.push((await before.client.call(tool)).result.taskId)
  await settle()
  await before.server.close()
  damaged = ids[0] as string
  const { client, clock, errors, runs } = sharing(store)
  expect((await client.get(ids[1] as string)).status).toBe('working')
  await settle()
  expect(runs()).toBe(1)
  expect((await client.request('tasks/get', { taskId: damaged })).error.code).toBe(-32603)
  const reports = (): number => errors.filter((error) => (error as Error).message.includes('is not a task')).length
  // Once by the request, once by the look at the store.
  expect(reports()).toBe(2)
  await clock.advance(LEASE_MS * 2)
  await settle()
  expect(reports()).toBe(2)
})

test('a store that refuses only changes for a while is reported once, and once again when it does so again', async () => {
  const memory = memoryTaskStore()
  let isFull = false
  const renew: TaskStore['renew'] = async (...lease) => {
    if (isFull) throw new McpError('ERR_STORE_DOWN', 'OOM')
    return memory.renew(...lease)
  }
  const { client, clock, errors, server } = sharing({ ...memory, renew, isShared: true, lookMs: LEASE_MS / 20 })
  for (let i = 0; i < 2; i++) await client.call('again')
  const look = async (): Promise<void> => {
    await clock.advance(LEASE_MS / 20)
    await settle()
  }
  for (let times = 1; times <= 2; times++) {
    isFull = true
    for (let i = 0; i < 10; i++) await look()
    expect(errors).toHaveLength(times)
    isFull = false
    for (let i = 0; i < 2; i++) await look()
  }
  await server.close()
})

test('a server that is closed while it looks at its store continues nothing, and does not look again', async () => {
  const memory = memoryTaskStore()
  const looks: ReturnType<typeof gate<void>>[] = []
  const neglected: TaskStore['neglected'] = async (now) => {
    const look = gate<void>()
    looks.push(look)
    await look.opened
    return memory.neglected(now)
  }
  const first = sharing({ ...memory, isShared: true })
  await first.client.call('again')
  await settle()
  await first.server.close()
  const second = sharing({ ...memory, isShared: true, neglected })
  void second.client.request('server/discover')
  void second.client.request('tasks/get', { taskId: 'x' })
  await settle()
  looks[0]?.open()
  await expect.poll(second.runs).toBe(1)
  // Its own task is one that another process could continue, too.
  await second.clock.advance(LEASE_MS / 2)
  await expect.poll(() => looks.length).toBe(2)
  const closed = second.server.close()
  looks[1]?.open()
  await closed
  await second.clock.advance(LEASE_MS * 3)
  await settle()
  expect(looks).toHaveLength(2)
  expect(second.runs()).toBe(1)
})

describe('a server that is closed', () => {
  /** A shared store. Changes that `waits` is true for wait until the gate is opened. */
  function slowStore() {
    const memory = memoryTaskStore()
    const held = { waits: (_task: TaskRecord) => false, gate: gate<void>(), waiting: 0 }
    const wait = async (task: TaskRecord): Promise<void> => {
      if (!held.waits(task)) return
      held.waiting++
      await held.gate.opened
    }
    const store: TaskStore = {
      ...memory,
      isShared: true,
      create: async (task, caps) => {
        await wait(task)
        return memory.create(task, caps)
      },
      replace: async (task) => {
        await wait(task)
        return memory.replace(task)
      },
    }
    return { store, held, lease: async () => (await memory.list(''))[0]?.lease }
  }

  test('while it takes a task over does not run it, and leaves it to the next process', async () => {
    const { store, held, lease } = slowStore()
    const [first, second] = [sharing(store), sharing(store)]
    await second.client.request('tasks/get', { taskId: 'x' })
    await first.client.call('again')
    await settle()
    await first.server.close()
    held.waits = (task) => task.lease.epoch === 2
    await second.clock.advance(LEASE_MS / 3)
    await settle()
    expect(held.waiting).toBe(1)
    const closed = second.server.close()
    await settle()
    held.gate.open()
    await closed
    await settle()
    expect([second.runs(), await lease()]).toEqual([0, expect.objectContaining({ epoch: 2, until: 0 })])
    await second.clock.advance(DAY_MS)
    expect(await lease(), 'a closed server deletes nothing').toBeDefined()
    const third = sharing(store)
    await third.client.request('tasks/get', { taskId: 'x' })
    await settle()
    expect(third.runs()).toBe(1)
    await third.server.close()
  })

  test('while a task is created does not run it, and leaves it to the next process', async () => {
    const { store, held, lease } = slowStore()
    const { client, server, clock, runs } = sharing(store)
    held.waits = () => true
    const call = client.call('again')
    await settle()
    const closed = server.close()
    await settle()
    held.gate.open()
    expect((await call).result.taskId).toBeDefined()
    await closed
    await settle()
    expect([runs(), await lease()]).toEqual([0, expect.objectContaining({ until: 0 })])
    await clock.advance(DAY_MS)
    expect(await lease(), 'a closed server deletes nothing').toBeDefined()
  })
})

describe('a task that can be started again', () => {
  const shared = (): TaskStore => ({ ...memoryTaskStore(), isShared: true })

  test('is run three times at most, and the error says so', async () => {
    const store = shared()
    const processes = [1, 2, 3, 4].map(() => sharing(store))
    const { taskId } = (await processes[0]?.client.call('again'))?.result ?? {}
    await settle()
    // Each one hangs from then on.
    for (const [at, { client, clock }] of processes.entries()) {
      await client.get(taskId)
      await clock.advance(LEASE_MS * 3 * at)
      await settle()
    }
    expect(processes.map(({ runs }) => runs())).toEqual([1, 1, 1, 0])
    const message = 'Each of the 3 processes that ran the task has ended'
    const data = { reason: 'replica_lost', retryable: false }
    expect(await processes[3]?.client.get(taskId)).toMatchObject({ status: 'failed', error: { message, data } })
  })

  test('is run by any number of processes that hand it over when they are closed', async () => {
    const store = shared()
    let taskId: string | undefined
    for (let at = 0; at < 6; at++) {
      const { client, server, runs } = sharing(store)
      taskId ??= (await client.call('again')).result.taskId as string
      expect((await client.get(taskId)).status).toBe('working')
      await settle()
      expect(runs()).toBe(1)
      await server.close()
    }
  })
})
