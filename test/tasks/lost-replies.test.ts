import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import type { TaskRecord } from '../../src/protocol/interfaces/task-record.ts'
import { McpError } from '../../src/server/index.ts'
import { envelope, settle } from '../support/raw-channel.ts'
import { until } from '../support/until.ts'
import { closes, type Fault, once, processOf, storeOnWire } from './store-on-wire.ts'
import { ABLE, extensionClient, sessionClient, taskServer } from './task-server.ts'

describe('an answer that the store keeps although its reply is lost', () => {
  const YES = { name: { action: 'accept', content: { name: 'Ann' } } }

  async function asked() {
    const { store, wire } = storeOnWire()
    const made = processOf(store)
    const { taskId } = (await made.client.call('ask')).result
    await made.client.reach(taskId, 'input_required')
    wire.loses = once(closes)
    return { ...made, wire, taskId, update: () => made.client.request('tasks/update', { taskId, inputResponses: YES }) }
  }

  test('reaches the handler when the client repeats it', async () => {
    const { client, taskId, update } = await asked()
    expect((await update()).error).toMatchObject({ code: -32603 })
    expect((await update()).error).toBeUndefined()
    expect((await client.reach(taskId, 'completed')).result.content[0].text).toBe('Hello, Ann')
  })

  test('reaches the handler soon, also if the client does not repeat it', async () => {
    const { client, taskId, update, wait, wire } = await asked()
    await update()
    wire.isDown = true
    await wait(0.5)
    wire.isDown = false
    await wait(1)
    expect(await client.get(taskId)).toMatchObject({ status: 'completed', result: { content: [{ text: 'Hello, Ann' }] } })
  })

  test('reaches the handler also if another process received it', async () => {
    const { store, wire } = storeOnWire()
    const [runner, other] = [processOf(store), processOf(store)]
    const { taskId } = (await runner.client.call('ask')).result
    await other.client.reach(taskId, 'input_required')
    await other.client.request('tasks/update', { taskId, inputResponses: YES })
    // The runner hears of it with the next answer, and cannot store the first one.
    wire.loses = once(closes)
    await runner.client.request('tasks/update', { taskId, inputResponses: YES })
    await runner.wait(1)
    expect((await other.client.get(taskId)).status).toBe('completed')
  })

  test('reaches the handler in a session, in place of the error', async () => {
    const { store, wire } = storeOnWire()
    const { server, wait } = processOf(store)
    const client = await sessionClient(server)
    const { taskId } = (await client.call('ask', {})).result.task
    await client.reach(taskId, 'input_required')
    const result = client.ask('tasks/result', { taskId })
    const { id } = await client.until(({ method }) => method === 'elicitation/create')
    wire.loses = once(closes)
    client.send({ jsonrpc: '2.0', id, result: YES.name })
    await settle()
    await wait(1)
    expect((await result).result).toMatchObject({ content: [{ text: 'Hello, Ann' }] })
  })
})

test('an error instead of an answer reaches the handler, although the reply of the store is lost', async () => {
  const { store, wire } = storeOnWire()
  const { server, wait } = processOf(store)
  let fault: unknown
  server.tool('curious', { task: 'required' }, async (_args, ctx) => {
    await ctx.elicit('name', 'Name?', z.object({ name: z.string() })).catch((error: unknown) => {
      fault = error
    })
    return 'done'
  })
  const client = await sessionClient(server)
  const { taskId } = (await client.call('curious', {})).result.task
  await client.reach(taskId, 'input_required')
  void client.ask('tasks/result', { taskId })
  const { id } = await client.until(({ method }) => method === 'elicitation/create')
  wire.loses = once(closes)
  client.send({ jsonrpc: '2.0', id, error: { code: -1, message: 'No person here' } })
  await settle()
  await wait(1)
  expect((await client.get(taskId)).status).toBe('completed')
  expect(fault).toMatchObject({ code: -1, message: 'No person here' })
})

describe('a result that the store cannot take while it is down', () => {
  async function ended() {
    const { store, wire, memory } = storeOnWire()
    const made = processOf(store)
    const { taskId } = (await made.client.call('again')).result
    await settle()
    wire.isDown = true
    made.go.open('paid')
    await settle()
    return { ...made, wire, taskId, kept: async () => (await memory.read('', taskId)) as TaskRecord }
  }

  test('is stored when the store is back', async () => {
    const { wire, wait, kept, runs } = await ended()
    await wait(3)
    expect((await kept()).status).toBe('working')
    wire.isDown = false
    await wait(1)
    expect(await kept()).toMatchObject({ status: 'completed', outcome: { result: { content: [{ text: 'paid' }] } } })
    expect(runs()).toBe(1)
  })

  test('keeps its lease while the store takes renewals only, so that no other process runs it again', async () => {
    const { store, wire, memory } = storeOnWire()
    const [runner, other] = [processOf(store), processOf(store)]
    await other.client.request('tasks/get', { taskId: 'x' })
    const { taskId } = (await runner.client.call('again')).result
    await settle()
    wire.drops = (task) => task.outcome !== undefined
    runner.go.open('paid')
    for (let i = 0; i < 12; i++) for (const { wait } of [runner, other]) await wait(0.25)
    expect([runner.runs(), other.runs()]).toEqual([1, 0])
    wire.drops = () => false
    await runner.wait(1)
    expect(await memory.read('', taskId)).toMatchObject({ status: 'completed', outcome: { result: { content: [{ text: 'paid' }] } } })
  })

  test('is not replaced by an error when one more try fails', async () => {
    const { wire, wait, kept } = await ended()
    wire.drops = once((task) => task.outcome !== undefined)
    wire.isDown = false
    await wait(1)
    expect(await kept()).toMatchObject({ status: 'completed', outcome: { result: { content: [{ text: 'paid' }] } } })
  })
})

describe('a task whose creation the store does not confirm', () => {
  const created: Fault = (_task, before) => before === undefined

  test('is removed when the store is back, and no process runs it', async () => {
    const { store, wire, memory } = storeOnWire()
    const [maker, other] = [processOf(store), processOf(store)]
    await other.client.request('tasks/get', { taskId: 'x' })
    wire.loses = once((...change) => {
      wire.isDown = created(...change)
      return wire.isDown
    })
    expect((await maker.client.call('again')).error).toMatchObject({ code: -32603 })
    await maker.wait(0.5)
    expect(await memory.list('')).toHaveLength(1)
    wire.isDown = false
    await maker.wait(0.5)
    expect(await memory.list('')).toHaveLength(0)
    await other.wait(2)
    expect([maker.runs(), other.runs()]).toEqual([0, 0])
  })

  test('does not run beside the plain call that goes on', async () => {
    const { store, wire, memory } = storeOnWire()
    const [maker, other] = [processOf(store), processOf(store)]
    await other.client.request('tasks/get', { taskId: 'x' })
    wire.loses = once(created)
    const answer = maker.client.call('late')
    await settle()
    await maker.wait(1)
    await other.wait(2)
    maker.go.open('done')
    expect((await answer).result).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] })
    expect([maker.runs(), other.runs(), await memory.list('')]).toEqual([1, 0, []])
  })

  test('is not continued by its own process after its lease', async () => {
    const { store, wire, memory } = storeOnWire()
    const { client, wait, runs } = processOf({
      ...store,
      remove: async () => {
        throw new McpError('ERR_STORE_DOWN', 'The store does not answer')
      },
    })
    wire.loses = once(created)
    await client.call('again')
    await wait(3)
    expect([runs(), (await memory.list('')).length]).toEqual([0, 1])
  })

  test('is removed when the server is closed', async () => {
    const { store, wire, memory } = storeOnWire()
    const { client, server } = processOf(store)
    wire.loses = once(created)
    await client.call('again')
    await server.close()
    expect(await memory.list('')).toHaveLength(0)
  })

  test('keeps its place until it is removed, and the error names the limit', async () => {
    const { store, wire } = storeOnWire()
    const { client, wait } = processOf(store, { maxTasksPerCaller: 2 })
    wire.loses = (...change) => {
      wire.isDown = created(...change)
      return wire.isDown
    }
    await client.call('again')
    wire.isDown = false
    await client.call('again')
    expect((await client.call('again')).error).toMatchObject({ data: { limit: 'maxTasksPerCaller', max: 2 } })
    wire.loses = () => false
    wire.isDown = false
    await wait(1)
    expect((await client.call('again')).result.taskId).toBeDefined()
  })

  test('is removed if its client is gone, also if the first try fails', async () => {
    const { store, wire, memory } = storeOnWire()
    const made = processOf({
      ...store,
      create: async (...task) => {
        const refusal = await store.create(...task)
        made.client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'gone' } })
        wire.isDown = true
        return refusal
      },
    })
    const _meta = envelope(ABLE)
    made.client.send({ jsonrpc: '2.0', id: 'gone', method: 'tools/call', params: { name: 'again', _meta } })
    await settle()
    expect(await memory.list('')).toHaveLength(1)
    wire.isDown = false
    await made.wait(1)
    expect(await memory.list('')).toHaveLength(0)
    expect(made.runs()).toBe(0)
  })
})

describe('the system time', () => {
  test('decides about leases, also after it was set', async () => {
    const { store, memory } = storeOnWire()
    const { server, go } = taskServer({ store, leaseMs: 300, ttlMs: 24 * 3_600_000 })
    onTestFinished(() => server.close())
    const client = extensionClient(server)
    const { taskId } = (await client.call('work')).result
    const { now } = Date
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000)
    onTestFinished(() => spy.mockRestore())
    const leaseEnd = async (id: string): Promise<number> => (await memory.read('', id))?.lease.until ?? 0
    const second = (await client.call('work')).result.taskId
    expect(await leaseEnd(second)).toBeGreaterThan(Date.now())
    await until(async () => (await leaseEnd(taskId)) > Date.now())
    go.open('done')
    await client.reach(taskId, 'completed')
  })

  test('that went on while the process stood still makes it renew its leases at once', async () => {
    const { store, memory } = storeOnWire()
    const leaseMs = 600_000
    const { server, go } = taskServer({ store: { ...store, lookMs: 20 }, leaseMs })
    onTestFinished(() => server.close())
    const client = extensionClient(server)
    const { taskId } = (await client.call('work')).result
    const { now } = Date
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => now() + leaseMs / 2)
    onTestFinished(() => spy.mockRestore())
    await until(async () => ((await memory.read('', taskId))?.lease.until ?? 0) > Date.now() + leaseMs / 2 + 1000)
    go.open('done')
    await client.reach(taskId, 'completed')
  })
})

test('a takeover whose reply is lost does not count as a run', async () => {
  const { store, wire } = storeOnWire()
  const dying = processOf({ ...store, renew: () => Promise.reject(new McpError('ERR_STORE_DOWN', 'The process is gone')) })
  const { taskId } = (await dying.client.call('again')).result
  await settle()
  const living = processOf(store)
  let lost = 0
  // More than the runs that a task may have.
  wire.loses = (task, before) => task.lease.epoch > (before?.lease.epoch ?? 0) && lost++ < 4
  for (let tenths = 0; tenths < 80; tenths++) await living.wait(0.1)
  expect(lost).toBeGreaterThan(4)
  expect((await living.client.get(taskId)).status).toBe('working')
})
