import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createServer, McpError, type Server } from '../../src/server/index.ts'
import { fileTaskStore, memoryTaskStore, type TaskOptions, type TaskStore, tasks } from '../../src/tasks/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { gate } from '../support/http-service.ts'
import { proves } from '../support/proves.ts'
import { settle } from '../support/raw-channel.ts'
import { type ExtensionClient, extensionClient, sessionClient, taskServer } from './task-server.ts'

const LEASE_MS = 1000

const temporaryFolder = temporaryFolders()

/** Two processes that share a store. The clock of the first one can stand still, as if it hung. */
function twoProcesses(isRestartable: boolean, given: TaskStore = memoryTaskStore()) {
  const store: TaskStore = { ...given, isShared: true }
  const runs: { number: number; go: ReturnType<typeof gate<string>>; signal: AbortSignal }[] = []
  const clocks = [fakeClock(), fakeClock()] as const
  const servers = clocks.map((clock, number): Server => {
    const server = createServer({ name: 'shared', version: '1', clock })
    server.extend(tasks({ store, leaseMs: LEASE_MS }))
    server.tool('work', { task: 'required', restartable: isRestartable }, (_args, ctx) => {
      const go = gate<string>()
      runs.push({ number, go, signal: ctx.signal })
      return go.opened
    })
    server.tool('ask', { task: 'required', restartable: isRestartable }, async (_args, ctx) => {
      const { sure } = await ctx.elicit('sure', 'Sure?', {
        type: 'object',
        properties: { sure: { type: 'boolean' } },
        required: ['sure'],
      } as const)
      return `sure: ${String(sure)}, process ${number}`
    })
    return server
  })
  const [first, second] = servers.map((server) => extensionClient(server)) as [ExtensionClient, ExtensionClient]
  return { first, second, clocks, runs }
}

test('a process that comes back after its lease cannot end the task that another took over', async () => {
  const { first, second, clocks, runs } = twoProcesses(true)
  const { taskId } = (await first.call('work')).result
  await second.get(taskId)
  await clocks[1].advance(LEASE_MS * 2)
  await settle()
  expect(runs.map(({ number }) => number)).toEqual([0, 1])
  runs[0]?.go.open('from the first')
  await settle()
  expect((await second.get(taskId)).status).toBe('working')
  await clocks[0].advance(LEASE_MS)
  await settle()
  runs[1]?.go.open('from the second')
  expect((await second.reach(taskId, 'completed')).result.content[0].text).toBe('from the second')
})

test('an answer that comes while no process runs the task is not lost', async () => {
  // The first process hangs: it hears of no change.
  const { watch: _, ...deaf } = memoryTaskStore()
  const { first, second, clocks } = twoProcesses(true, deaf)
  const { taskId } = (await first.call('ask')).result
  await second.reach(taskId, 'input_required')
  const inputResponses = { sure: { action: 'accept', content: { sure: true } } }
  expect((await second.request('tasks/update', { taskId, inputResponses })).error).toBeUndefined()
  await clocks[1].advance(LEASE_MS * 2)
  expect((await second.reach(taskId, 'completed')).result.content[0].text).toBe('sure: true, process 1')
})

describe('an answer that comes to a process that does not run the task', () => {
  const name = (text: string) => ({ name: { action: 'accept', content: { name: text } } })

  /** Two servers of one folder. The first runs a task that asks for a name in capitals. */
  async function asked(limits: TaskOptions['limits'] = {}) {
    const store = fileTaskStore(temporaryFolder())
    const capitals = z.object({ name: z.string().refine((text) => text === text.toUpperCase(), 'expected capitals') })
    const servers = [taskServer({ store, limits }), taskServer({ store, limits })] as const
    for (const { server } of servers)
      server.tool('capitals', { task: 'required' }, async (_args, ctx) => (await ctx.elicit('name', 'Name?', capitals)).name)
    const [runner, other] = [extensionClient(servers[0].server), extensionClient(servers[1].server)]
    const { taskId } = (await runner.call('capitals')).result
    await other.reach(taskId, 'input_required')
    onTestFinished(async () => void (await Promise.all(servers.map(({ server }) => server.close()))))
    return { taskId, other, update: (inputResponses: object) => other.request('tasks/update', { taskId, inputResponses }) }
  }

  test('is refused if the question does not allow it, and the question stays open', async () => {
    const { taskId, other, update } = await asked()
    for (const answer of [{ action: 'accept', content: { name: 5 } }, { action: 'maybe' }, 'Ann'])
      expect((await update({ name: answer })).error).toMatchObject({ code: -32602 })
    expect((await update({ other: 5 })).error).toBeUndefined()
    expect((await other.get(taskId)).status).toBe('input_required')
    expect((await update(name('ANN'))).error).toBeUndefined()
    expect((await other.reach(taskId, 'completed')).result.content[0].text).toBe('ANN')
  })

  test('is refused beyond the limit, and the error names the limit', async () => {
    const { update } = await asked({ maxTaskBytes: 1000 })
    expect((await update(name('X'.repeat(1000)))).error).toMatchObject({ data: { limit: 'maxTaskBytes', max: 1000 } })
  })

  test('ends the question with the reason, if only its author can tell that it is not valid', async () => {
    const { taskId, other, update } = await asked()
    expect((await update(name('ann'))).error).toBeUndefined()
    expect((await other.reach(taskId, 'failed')).error.message).toContain('expected capitals')
  })
})

test('a process that lost its lease stops its handler', async () => {
  const { first, second, clocks, runs } = twoProcesses(true)
  await first.call('work')
  await second.request('server/discover')
  await clocks[1].advance(LEASE_MS * 2)
  await settle()
  await clocks[0].advance(LEASE_MS / 2)
  await settle()
  expect(runs.map(({ signal }) => signal.aborted)).toEqual([true, false])
})

test('a task that cannot be started again fails when its process is gone', async () => {
  const { first, second, clocks } = twoProcesses(false)
  const { taskId } = (await first.call('work')).result
  expect((await second.get(taskId)).status).toBe('working')
  await clocks[1].advance(LEASE_MS * 2)
  expect((await second.reach(taskId, 'failed')).error.message).toBe('The server stopped while the task was running')
})

describe('a store that cannot be written to', () => {
  /** A store on a disk: `free` characters more can be written to it for one task. */
  function disk() {
    const store = memoryTaskStore()
    const space = { free: 1e9 }
    const replace: TaskStore['replace'] = async (task) => {
      if (JSON.stringify(task).length > space.free) throw new McpError('ERR_STORE', '/private/folder cannot be used (ENOSPC)')
      return store.replace(task)
    }
    return { store: { ...store, isShared: true, replace }, space }
  }

  async function endedTask(space: { free: number }, store: TaskStore, free: number) {
    const clock = fakeClock()
    const { server, go, errors } = taskServer({ store, leaseMs: LEASE_MS }, { clock })
    let runs = 0
    server.tool('pay', { task: 'required', restartable: true }, () => {
      runs++
      return go.opened as Promise<string>
    })
    const client = extensionClient(server)
    const { taskId } = (await client.call('pay')).result
    await settle()
    space.free = free
    go.open('x'.repeat(5000))
    await settle()
    expect((await client.get(taskId)).status).toBe('working')
    const wait = async (): Promise<void> => {
      for (let i = 0; i < 8; i++) {
        await clock.advance(LEASE_MS / 2)
        await settle()
      }
    }
    return { client, taskId, wait, errors, server, runs: () => runs }
  }

  test('gets the result when it can, and the handler does not run again', async () => {
    const { store, space } = disk()
    const { client, taskId, wait, runs } = await endedTask(space, store, 0)
    await wait()
    expect([(await client.get(taskId)).status, runs()]).toEqual(['working', 1])
    space.free = 1e9
    await wait()
    const { status, result } = await client.get(taskId)
    expect([status, result.content[0].text.length, runs()]).toEqual(['completed', 5000, 1])
  })

  test('gets at least the reason, which does not name its files', async () => {
    const { store, space } = disk()
    const { client, taskId, wait, runs, errors } = await endedTask(space, store, 3000)
    await wait()
    const { status, error } = await client.get(taskId)
    expect([status, error.message, runs()]).toEqual(['failed', 'The result of the task could not be stored', 1])
    expect(errors).toMatchObject([{ code: 'ERR_STORE' }])
  })

  test('gets the result when the server is closed', async () => {
    const { store, space } = disk()
    const { server, taskId } = await endedTask(space, store, 0)
    space.free = 1e9
    await server.close()
    expect((await store.read('', taskId))?.status).toBe('completed')
  })
})

test('a process keeps its lease as long as it responds', async () => {
  const { first, second, clocks } = twoProcesses(false)
  const { taskId } = (await first.call('work')).result
  for (let i = 0; i < 10; i++) {
    await Promise.all([clocks[0].advance(LEASE_MS / 2), clocks[1].advance(LEASE_MS / 2)])
    await settle()
  }
  expect((await second.get(taskId)).status).toBe('working')
})

test('a task and its result are kept until its time is over, and a running one is stopped then', async () => {
  proves('R-TASK-050', 'R-TASK-105')
  const clock = fakeClock()
  const { server, go, signal } = taskServer({ ttlMs: 5000 }, { clock })
  const client = extensionClient(server)
  const ids = [(await client.call('work')).result.taskId, (await client.call('work')).result.taskId]
  await settle()
  await client.request('tasks/cancel', { taskId: ids[0] })
  await clock.advance(4999)
  expect([(await client.get(ids[0])).status, (await client.get(ids[1])).status]).toEqual(['cancelled', 'working'])
  expect(signal().aborted).toBe(false)
  await clock.advance(1)
  await settle()
  expect(signal().aborted).toBe(true)
  for (const taskId of ids) expect((await client.request('tasks/get', { taskId })).error.code).toBe(-32602)
  go.open('too late')
  await settle()
})

test.each(['2025-11-25', '2026-07-28'])(
  'a task that nobody answers fails with the reason before its time is over, in %s',
  async (revision) => {
    const clock = fakeClock()
    const { server } = taskServer({ ttlMs: 60_000 }, { clock })
    const isSession = revision === '2025-11-25'
    const client = isSession ? await sessionClient(server) : extensionClient(server)
    const { result } = await client.call('ask', {})
    const { taskId } = result.task ?? result
    await client.reach(taskId, 'input_required')
    await clock.advance(53_000)
    await settle()
    expect((await client.get(taskId)).status).toBe('input_required')
    await clock.advance(1000)
    await settle()
    const message = 'The question "name" got no answer before the time of the task was over (ttl)'
    expect(await client.get(taskId)).toMatchObject({ status: 'failed', statusMessage: message })
    await clock.advance(6000)
    await settle()
    expect((await client.ask('tasks/get', { taskId })).error).toBeDefined()
  },
)

const annAndBob = (server: Server) =>
  [extensionClient(server, { principal: 'ann' }), extensionClient(server, { principal: 'bob' })] as const

test('the number of tasks is limited for each caller and in all, and the error names the limit', async () => {
  const { server } = taskServer({ limits: { maxTasksPerCaller: 2, maxTasks: 3 } })
  const [ann, bob] = annAndBob(server)
  const { taskId } = (await ann.call('work')).result
  await ann.call('work')
  expect((await ann.call('work')).error).toMatchObject({ data: { limit: 'maxTasksPerCaller', max: 2 } })
  await bob.call('work')
  expect((await bob.call('work')).error).toMatchObject({ data: { limit: 'maxTasks', max: 3 } })
  // A cancelled task is kept, too, until its time is over.
  await ann.request('tasks/cancel', { taskId })
  expect((await ann.call('work')).error).toMatchObject({ data: { reason: 'limit' } })
})

test('a handler that runs on after its task has expired keeps its place until it stops', async () => {
  const clock = fakeClock()
  const { server, go } = taskServer({ ttlMs: 1000, limits: { maxTasksPerCaller: 2, maxTasks: 3 } }, { clock })
  const [ann, bob] = annAndBob(server)
  const { taskId } = (await ann.call('work')).result
  await ann.call('work')
  await settle()
  await clock.advance(1001)
  await settle()
  expect((await ann.request('tasks/get', { taskId })).error.message).toContain('Task not found')
  expect((await ann.call('work')).error).toMatchObject({ data: { limit: 'maxTasksPerCaller', max: 2 } })
  expect((await bob.call('ask')).result.taskId).toBeDefined()
  expect((await bob.call('ask')).error).toMatchObject({ data: { limit: 'maxTasks', max: 3 } })
  go.open('done')
  await settle()
  expect((await ann.call('work')).result.taskId).toBeDefined()
})

test('a call that would become a task beyond the limit stays a plain call', async () => {
  const { server, go } = taskServer({ afterMs: 5, limits: { maxTasks: 0 } })
  const answer = extensionClient(server).call('slow')
  await new Promise((resolve) => setTimeout(resolve, 30))
  go.open('plain')
  expect((await answer).result).toMatchObject({ resultType: 'complete', content: [{ text: 'plain' }] })
})

test('a result beyond the limit fails the task, and the error names the limit', async () => {
  const { server, go } = taskServer({ limits: { maxTaskBytes: 1000 } })
  const client = extensionClient(server)
  const { taskId } = (await client.call('work')).result
  go.open('x'.repeat(1000))
  expect((await client.reach(taskId, 'failed')).error).toMatchObject({ data: { limit: 'maxTaskBytes', max: 1000 } })
})

test('answers beyond the limit are refused, and the error names the limit', async () => {
  const { server } = taskServer({ limits: { maxTaskBytes: 1000 } })
  const client = extensionClient(server)
  const { taskId } = (await client.call('ask')).result
  await client.reach(taskId, 'input_required')
  const inputResponses = { name: { action: 'accept', content: { name: 'x'.repeat(1000) } } }
  const { error } = await client.request('tasks/update', { taskId, inputResponses })
  expect(error).toMatchObject({ data: { limit: 'maxTaskBytes', max: 1000 } })
})

test('closing the server ends its tasks', async () => {
  const { server, signal } = taskServer()
  const client = extensionClient(server)
  await client.call('work')
  await settle()
  await server.close()
  expect(signal().aborted).toBe(true)
})

test('tools say how they run as tasks, and mistakes in that are errors', () => {
  const bare = createServer({ name: 'bare', version: '1' })
  expect(() => bare.tool('x', { task: 'optional' }, () => 'x')).toThrow('task needs server.extend(tasks()) of portico/tasks')
  bare.tool('y', { task: 'forbidden' }, () => 'y')
  const { server } = taskServer()
  expect(() => server.tool('x', { task: 'sometimes' as never }, () => 'x')).toThrow('"optional", "required" or "forbidden"')
  expect(() => server.tool('x', { task: 'optional', taskAfterMs: -1 }, () => 'x')).toThrow('taskAfterMs must be a whole number')
  expect(() => server.extend(tasks())).toThrow('is already declared')
})

/** A server whose store creates tasks when `stored` is opened. */
function slowStore() {
  const stored = gate()
  const store = memoryTaskStore()
  const slow: TaskStore = { ...store, create: (task, caps) => stored.opened.then(() => store.create(task, caps)) }
  return { store, stored, ...taskServer({ store: slow }) }
}

test('a client learns of its task only when the store has it', async () => {
  proves('R-TASK-090', 'R-TASK-091')
  const { stored, server, signal } = slowStore()
  const client = extensionClient(server)
  const call = client.call('work')
  await settle()
  expect([client.out, signal()]).toEqual([[], undefined])
  stored.open()
  expect((await client.get((await call).result.taskId)).status).toBe('working')
})

test('a client that cancels its call before the store has the task leaves no task behind', async () => {
  const { store, stored, server, signal } = slowStore()
  const client = extensionClient(server)
  void client.call('work')
  await settle()
  client.channel.close('gone')
  stored.open()
  await settle()
  expect([await store.list(''), signal()]).toEqual([[], undefined])
})

test('changes and uses of tasks can be logged with their caller', async () => {
  proves('R-TASK-077')
  const changes: unknown[] = []
  const { server, go } = taskServer({ onChange: (change) => changes.push(change) })
  const uses = new Set<string>()
  server.use((call, next) => {
    uses.add(`${call.caller.principal} ${call.method} ${call.params.taskId === undefined ? '' : 'of a task'}`.trim())
    return next()
  })
  const client = extensionClient(server, { principal: 'ann' })
  const { taskId } = (await client.call('work')).result
  go.open('done')
  await client.reach(taskId, 'completed')
  expect([...uses]).toEqual(['ann tools/call', 'ann tasks/get of a task'])
  const about = { taskId, tool: 'work', principal: 'ann', statusMessage: undefined }
  expect(changes).toEqual([
    { ...about, status: 'working' },
    { ...about, status: 'completed' },
  ])
})
