import { describe, expect, onTestFinished, test } from 'vitest'
import { type Answers, Client, Declined } from '../../../src/client/index.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'
import { cannedServer, type Script } from '../../support/scripted-server.ts'
import { until } from '../../support/until.ts'
import { pass } from './scripted-tasks.ts'

const RELATED = 'io.modelcontextprotocol/related-task'
const sampled = { role: 'assistant' as const, content: { type: 'text' as const, text: 'hi' }, model: 'm' }
const question = { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 5 }
const form = { message: '?', requestedSchema: { type: 'object', properties: {} } }

interface Asked {
  script: Script
  client: Client
  clock: ReturnType<typeof fakeClock>
  /** Sends a request to the client. Resolves with its answer. */
  ask(method: string, params?: Message): Promise<Message>
  /** The statuses that the client told the server. */
  told(): Message[]
}

async function asked(answer: Answers, options: { tasks?: boolean; revision?: string } = {}): Promise<Asked> {
  const { tasks = true, revision = '2025-11-25' } = options
  const clock = fakeClock()
  const script = cannedServer({ revision })
  const client = await Client.connect(script.target, {
    answer,
    clock,
    tasks,
    pingIntervalMs: 0,
    limits: { samplings: false, elicitations: false },
  })
  onTestFinished(() => client.close())
  let count = 0
  const ask = async (method: string, params: Message = {}): Promise<Message> => {
    const id = `s${++count}`
    script.send({ jsonrpc: '2.0', id, method, params })
    let answered: Message | undefined
    await until(() => {
      answered = script.received.find((message) => message.id === id && message.method === undefined)
      return answered !== undefined
    })
    return answered as Message
  }
  const told = (): Message[] => script.received.filter(({ method }) => method === 'notifications/tasks/status').map(({ params }) => params)
  return { script, client, clock, ask, told }
}

/** A handler that a test ends. */
function held<T>(): {
  run(asking: { signal: AbortSignal }): Promise<T>
  end(value: T): void
  fail(error: Error): void
  signal(): AbortSignal
} {
  let end: (value: T) => void = () => {}
  let fail: (error: Error) => void = () => {}
  let signal: AbortSignal | undefined
  const ended = new Promise<T>((resolve, reject) => {
    end = resolve
    fail = reject
  })
  return {
    run: ({ signal: given }) => {
      signal = given
      return ended
    },
    end: (value) => end(value),
    fail: (error) => fail(error),
    signal: () => signal as AbortSignal,
  }
}

test('the client declares what it runs as tasks: requests that have handlers, in the revision that has it', async () => {
  proves('R-TASK-002', 'R-TASK-004')
  const declared = async (answer: Answers, options: { tasks?: boolean; revision?: string } = {}): Promise<unknown> => {
    const { script } = await asked(answer, options)
    const opening = script.received.find(({ method }) => method === 'initialize') ?? script.received[0]
    const capabilities = opening?.params.capabilities ?? opening?.params._meta['io.modelcontextprotocol/clientCapabilities']
    return capabilities.tasks
  }
  const both = { sample: () => sampled, elicit: () => ({ action: 'accept' as const }) }
  const requests = { sampling: { createMessage: {} }, elicitation: { create: {} } }
  expect(await declared(both)).toEqual({ list: {}, cancel: {}, requests })
  expect(await declared({ elicit: both.elicit })).toEqual({ list: {}, cancel: {}, requests: { elicitation: requests.elicitation } })
  expect(await declared({})).toBeUndefined()
  expect(await declared(both, { tasks: false })).toBeUndefined()
  expect(await declared(both, { revision: '2026-07-28' })).toBeUndefined()
})

describe('a request of the server that asks for a task', () => {
  test('is answered with the task at once, and runs', async () => {
    proves('R-TASK-029', 'R-TASK-030', 'R-TASK-031', 'R-TASK-032', 'R-TASK-040', 'R-TASK-055', 'R-TASK-028', 'R-TASK-036')
    const work = held<typeof sampled>()
    let given: unknown
    const { ask, told } = await asked({
      sample: (params, asking) => {
        given = params
        return work.run(asking)
      },
    })
    const { result } = await ask('sampling/createMessage', { ...question, task: { ttl: 60_000 } })
    const { taskId } = result.task
    expect(result.task).toEqual({
      taskId: expect.stringMatching(/^[\w-]{22}$/),
      status: 'working',
      createdAt: expect.any(String),
      lastUpdatedAt: expect.any(String),
      ttl: 60_000,
      pollInterval: 1000,
    })
    expect((await ask('tasks/get', { taskId })).result).toEqual(result.task)
    expect((await ask('tasks/list')).result).toEqual({ tasks: [result.task] })
    const fetched = ask('tasks/result', { taskId })
    work.end(sampled)
    await fetched
    expect(given).toMatchObject(question)
    expect(given).not.toHaveProperty('task')
    expect((await fetched).result).toEqual({ ...sampled, _meta: { [RELATED]: { taskId } } })
    expect((await ask('tasks/result', { taskId })).result).toMatchObject(sampled)
    expect((await ask('tasks/get', { taskId })).result).toMatchObject({ status: 'completed' })
    expect(told()).toMatchObject([{ taskId, status: 'completed' }])
    expect(told()[0]).not.toHaveProperty('_meta')
  })

  test('fails as the request would have failed', async () => {
    proves('R-TASK-068', 'R-TASK-069', 'R-TASK-070')
    const { ask } = await asked({
      sample: () => {
        throw new Declined('not today')
      },
      elicit: () => {
        throw new Declined()
      },
    })
    const { taskId } = (await ask('sampling/createMessage', { ...question, task: {} })).result.task
    expect((await ask('tasks/result', { taskId })).error).toEqual({ code: -1, message: 'not today' })
    expect((await ask('tasks/get', { taskId })).result).toMatchObject({ status: 'failed', statusMessage: 'not today' })
    const second = (await ask('elicitation/create', { ...form, task: {} })).result.task.taskId
    expect((await ask('tasks/result', { taskId: second })).result).toMatchObject({ action: 'decline' })
    expect((await ask('tasks/get', { taskId: second })).result.status).toBe('completed')
  })

  test('can be cancelled: its handler is told, and what it does later is ignored', async () => {
    proves('R-TASK-060', 'R-TASK-061', 'R-TASK-062')
    const work = held<typeof sampled>()
    const { ask, told } = await asked({ sample: (_params, asking) => work.run(asking) })
    const { taskId } = (await ask('sampling/createMessage', { ...question, task: {} })).result.task
    await until(() => work.signal() !== undefined)
    const waiting = ask('tasks/result', { taskId })
    expect((await ask('tasks/cancel', { taskId })).result).toMatchObject({ taskId, status: 'cancelled' })
    expect(work.signal().aborted).toBe(true)
    expect((await waiting).error).toMatchObject({ code: -32603, message: 'The server cancelled the task' })
    work.end(sampled)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await ask('tasks/get', { taskId })).result.status).toBe('cancelled')
    expect((await ask('tasks/cancel', { taskId })).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('already cancelled'),
    })
    expect(told()).toHaveLength(1)
  })

  test('is kept until its time is over, and is stopped then', async () => {
    proves('R-TASK-050', 'R-TASK-049')
    const work = held<typeof sampled>()
    const world = await asked({ sample: (_params, asking) => work.run(asking) })
    const { taskId } = (await world.ask('sampling/createMessage', { ...question, task: { ttl: 5000 } })).result.task
    await until(() => work.signal() !== undefined)
    const waiting = world.ask('tasks/result', { taskId })
    await pass(world, 5000)
    expect(work.signal().aborted).toBe(true)
    expect((await waiting).error).toMatchObject({ code: -32603 })
    expect((await world.ask('tasks/get', { taskId })).error).toMatchObject({ code: -32602 })
    expect((await world.ask('tasks/list')).result).toEqual({ tasks: [] })
    const long = (await world.ask('sampling/createMessage', { ...question, task: { ttl: 1e12 } })).result.task
    expect(long.ttl).toBe(24 * 60 * 60_000)
  })

  test('is stopped when the client is closed', async () => {
    const work = held<typeof sampled>()
    const { ask, client } = await asked({ sample: (_params, asking) => work.run(asking) })
    await ask('sampling/createMessage', { ...question, task: {} })
    await until(() => work.signal() !== undefined)
    await client.close()
    expect(work.signal().aborted).toBe(true)
  })

  test('runs as a plain request where tasks were not declared', async () => {
    proves('R-TASK-037', 'R-TASK-007')
    const { ask } = await asked({ sample: () => sampled }, { tasks: false })
    expect((await ask('sampling/createMessage', { ...question, task: {} })).result).toEqual(sampled)
    for (const method of ['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel'])
      expect((await ask(method, { taskId: 'x' })).error).toMatchObject({ code: -32601 })
    const { ask: roots } = await asked({ roots: ['file:///a'], sample: () => sampled })
    expect((await roots('roots/list', { task: {} })).result).toEqual({ roots: [{ uri: 'file:///a' }] })
  })
})

describe('bounds', () => {
  test('bad requests about tasks get an error', async () => {
    proves('R-TASK-065', 'R-TASK-067')
    const { ask } = await asked({ sample: () => sampled })
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      for (const taskId of ['unknown', 5, undefined])
        expect((await ask(method, { taskId })).error).toMatchObject({ code: -32602, message: expect.stringContaining('Task not found') })
    expect((await ask('tasks/list', { cursor: 'x' })).error).toMatchObject({ code: -32602 })
    expect((await ask('tasks/other', {})).error).toMatchObject({ code: -32601 })
    for (const task of [5, { ttl: -1 }, { ttl: 'long' }])
      expect((await ask('sampling/createMessage', { ...question, task })).error).toMatchObject({ code: -32602 })
  })

  test('a server can start 32 tasks, and ask about them within a rate', async () => {
    proves('R-TASK-075', 'R-TASK-076')
    const { ask } = await asked({ sample: () => new Promise(() => {}) })
    for (let i = 0; i < 32; i++) expect((await ask('sampling/createMessage', { ...question, task: {} })).result.task).toBeDefined()
    expect((await ask('sampling/createMessage', { ...question, task: {} })).error).toMatchObject({
      message: 'Too many tasks: at most 32, finished tasks that are kept included',
    })
    const answers = []
    for (let i = 0; i < 101; i++) answers.push(await ask('tasks/list'))
    expect(answers.filter(({ error }) => error).map(({ error }) => error.data.reason)).toEqual(['rate-limited'])
  })

  test('all servers together can start 256 tasks', async () => {
    const worlds = []
    for (let i = 0; i < 9; i++) worlds.push(await asked({ sample: () => new Promise(() => {}) }))
    let started = 0
    for (const { ask } of worlds)
      for (let i = 0; i < 32; i++) if ((await ask('sampling/createMessage', { ...question, task: {} })).result) started++
    expect(started).toBe(256)
    for (const { client } of worlds) await client.close()
    const { ask } = await asked({ sample: () => sampled })
    expect((await ask('sampling/createMessage', { ...question, task: {} })).result.task.status).toBe('working')
  })
})
