import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { McpError, ToolError } from '../../src/server/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { SESSION_REVISIONS } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { rawChannel, settle } from '../support/raw-channel.ts'
import { sessionClient, taskServer } from './task-server.ts'

const RELATED = 'io.modelcontextprotocol/related-task'
const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('a call with a wish for a task', () => {
  test('is answered with a task that works, and later with its result', async () => {
    proves('R-TASK-015', 'R-TASK-017', 'R-TASK-019', 'R-TASK-021', 'R-TASK-028', 'R-TASK-029', 'R-TASK-030', 'R-TASK-031')
    proves('R-TASK-039', 'R-TASK-040', 'R-TASK-047', 'R-TASK-049', 'R-TASK-051', 'R-TASK-055', 'R-TASK-054', 'R-TASK-012')
    const { server, go } = taskServer()
    const client = await sessionClient(server)
    const { result } = await client.call('slow', { ttl: 60_000 })
    const { task } = result
    expect(task).toEqual({
      taskId: expect.stringMatching(/^[\w-]{22}$/),
      status: 'working',
      createdAt: ISO,
      lastUpdatedAt: ISO,
      ttl: 60_000,
      pollInterval: 1000,
    })
    expect(result).toEqual({ task, _meta: { [RELATED]: { taskId: task.taskId } } })
    expect(await client.get(task.taskId)).toEqual(task)
    const waiting = client.ask('tasks/result', { taskId: task.taskId })
    await settle()
    expect(client.out.at(-1)?.result).toEqual(task)
    go.open('done')
    const answer = { content: [{ type: 'text', text: 'done' }], _meta: { [RELATED]: { taskId: task.taskId } } }
    expect((await waiting).result).toEqual(answer)
    expect((await client.ask('tasks/result', { taskId: task.taskId })).result).toEqual(answer)
    expect(await client.get(task.taskId)).toMatchObject({ status: 'completed', ttl: 60_000 })
    expect((await client.call('quick')).result.content[0].text).toBe('quick')
  })

  test('fails if the tool reports an error or the call fails, with the same answer as a plain call', async () => {
    proves('R-TASK-031', 'R-TASK-068', 'R-TASK-069', 'R-TASK-070')
    const reported = taskServer()
    const first = await sessionClient(reported.server)
    const one = (await first.call('work', {})).result.task.taskId
    reported.go.open(new ToolError('no luck'))
    expect(await first.reach(one, 'failed')).toMatchObject({ statusMessage: 'no luck' })
    expect((await first.ask('tasks/result', { taskId: one })).result).toMatchObject({ isError: true, content: [{ text: 'no luck' }] })

    const broken = taskServer()
    const second = await sessionClient(broken.server)
    const two = (await second.call('work', {})).result.task.taskId
    broken.go.open(new McpError('ERR_INVALID_PARAMS', 'bad input', { data: { at: 'x' } }))
    expect(await second.reach(two, 'failed')).toMatchObject({ statusMessage: 'bad input' })
    const { error } = await second.ask('tasks/result', { taskId: two })
    expect(error).toEqual({ code: -32602, message: 'bad input', data: { at: 'x' } })
  })

  test('is refused by tools that do not run as tasks, and plain calls by tools that only do', async () => {
    proves('R-TASK-011', 'R-TASK-014', 'R-TASK-038', 'R-TASK-066', 'R-TASK-067')
    const client = await sessionClient(taskServer().server)
    expect((await client.call('plain', {})).error).toMatchObject({ code: -32601, message: 'The tool "plain" does not run as a task' })
    expect((await client.call('only')).error).toMatchObject({ code: -32601, message: expect.stringContaining('runs only as a task') })
    expect((await client.call('only', {})).result.task.status).toBe('working')
  })

  test('is ignored where the server has no tasks or the revision does not know them', async () => {
    proves('R-TASK-037', 'R-TASK-006', 'R-TASK-002')
    for (const revision of SESSION_REVISIONS.filter((each) => each !== '2025-11-25')) {
      const client = await sessionClient(taskServer().server, { revision })
      expect((await client.call('quick', { ttl: 5 })).result.content[0].text).toBe('quick')
      const { error } = await client.call('only', { ttl: 5 })
      expect(error).toMatchObject({
        code: -32601,
        message: `The tool "only" runs only as a task, and protocol revision ${revision} has no tasks`,
      })
      expect((await client.ask('tasks/get', { taskId: 'x' })).error.code).toBe(-32601)
      const { tools } = (await client.ask('tools/list')).result
      expect(JSON.stringify(tools)).not.toContain('execution')
      expect(JSON.stringify(client.out[0])).not.toContain('"tasks":')
    }
  })

  test('may name a time within the limits', async () => {
    proves('R-TASK-016', 'R-TASK-048', 'R-TASK-076')
    const client = await sessionClient(taskServer({ maxTtlMs: 7_200_000 }).server)
    const ttlOf = async (task: object): Promise<number> => (await client.call('work', task)).result.task.ttl
    expect([await ttlOf({}), await ttlOf({ ttl: 5000 }), await ttlOf({ ttl: 1e12 }), await ttlOf({ ttl: 1 })]).toEqual([
      3_600_000, 5000, 7_200_000, 1000,
    ])
    for (const task of [{ ttl: -1 }, { ttl: 'x' }, { ttl: null }]) expect((await client.call('work', task)).error.code).toBe(-32602)
    expect((await client.ask('tools/call', { name: 'work', task: 5 })).error.code).toBe(-32602)
  })
})

describe('the capability', () => {
  test('names what is supported, and tools say whether they run as tasks', async () => {
    proves('R-TASK-003', 'R-TASK-007', 'R-TASK-008')
    const client = await sessionClient(taskServer().server)
    const { capabilities } = (await client.until(({ result }) => result?.serverInfo)).result
    expect(capabilities.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } })
    const { tools } = (await client.ask('tools/list')).result
    const support = Object.fromEntries(tools.map(({ name, execution }: { name: string; execution?: unknown }) => [name, execution]))
    expect(support).toMatchObject({ work: { taskSupport: 'optional' }, only: { taskSupport: 'required' } })
    expect(support.plain).toBeUndefined()
  })

  test('has no list where callers cannot be told apart', async () => {
    proves('R-TASK-008', 'R-TASK-072', 'R-TASK-074')
    const raw = rawChannel(taskServer().server)
    const { capabilities } = (await raw.initialize('2025-11-25')).result
    expect(capabilities.tasks).toEqual({ cancel: {}, requests: { tools: { call: {} } } })
    expect((await raw.ask('tasks/list')).error.code).toBe(-32601)
  })
})

describe('requests about tasks', () => {
  test('list the tasks of the caller, in pages', async () => {
    proves('R-TASK-056', 'R-TASK-057', 'R-TASK-058', 'R-TASK-059', 'R-TASK-071', 'R-TASK-065')
    const { server } = taskServer({}, { pageSize: 2 })
    const ann = await sessionClient(server, { principal: 'ann' })
    const bob = await sessionClient(server, { principal: 'bob' })
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.push((await ann.call('work', {})).result.task.taskId)
    await bob.call('work', {})
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const { result } = await ann.ask('tasks/list', cursor === undefined ? {} : { cursor })
      for (const task of result.tasks) {
        expect(task).toEqual(await ann.get(task.taskId))
        seen.push(task.taskId)
      }
      cursor = result.nextCursor
      if (cursor) expect((await bob.ask('tasks/list', { cursor })).error.code).toBe(-32602)
    } while (cursor !== undefined)
    expect(seen).toEqual(ids)
    expect((await bob.ask('tasks/list')).result.tasks).toHaveLength(1)
    expect((await ann.ask('tasks/list', { cursor: 'x' })).error.code).toBe(-32602)
  })

  test('of other callers and for unknown tasks get the same error', async () => {
    proves('R-TASK-065', 'R-TASK-071', 'R-TASK-053')
    const { server } = taskServer()
    const ann = await sessionClient(server, { principal: 'ann' })
    const bob = await sessionClient(server, { principal: 'bob' })
    const { taskId } = (await ann.call('work', {})).result.task
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      const { error } = await bob.ask(method, { taskId })
      expect(error).toEqual((await bob.ask(method, { taskId: 'unknown' })).error)
      expect(error.code).toBe(-32602)
      expect((await ann.ask(method, {})).error.code).toBe(-32602)
    }
    const misled = await ann.ask('tasks/get', { taskId, _meta: { [RELATED]: { taskId: 'other' } } })
    expect(misled.result.taskId).toBe(taskId)
  })

  test('cancel a task once; it stays cancelled whatever the handler does', async () => {
    proves('R-TASK-041', 'R-TASK-042', 'R-TASK-060', 'R-TASK-061', 'R-TASK-062')
    const { server, go, signal } = taskServer()
    const client = await sessionClient(server)
    const { taskId } = (await client.call('work', {})).result.task
    const waiting = client.ask('tasks/result', { taskId })
    await settle()
    const { result } = await client.ask('tasks/cancel', { taskId })
    expect(result).toMatchObject({ taskId, status: 'cancelled' })
    expect(result).not.toHaveProperty('_meta')
    expect(signal().aborted).toBe(true)
    expect((await waiting).error).toEqual({ code: -32603, message: 'The task was cancelled: The client asked for it' })
    go.open('too late')
    await settle()
    expect(await client.get(taskId)).toEqual(result)
    const again = await client.ask('tasks/cancel', { taskId })
    expect(again.error).toMatchObject({ code: -32602, message: 'The task cannot be cancelled: it is already cancelled' })
  })

  test('are limited in their rate', async () => {
    proves('R-TASK-075', 'R-TASK-099')
    const { server } = taskServer({ limits: { taskRequests: { perSecond: 1, burst: 3 } } })
    const client = await sessionClient(server)
    const codes = []
    for (let i = 0; i < 4; i++) codes.push((await client.ask('tasks/get', { taskId: 'x' })).error.data?.limit)
    expect(codes).toEqual([undefined, undefined, undefined, 'taskRequests'])
  })

  test('for the result end when they are cancelled, and the task goes on', async () => {
    proves('R-TASK-025')
    const { server, go, signal } = taskServer()
    const client = await sessionClient(server)
    const { taskId } = (await client.call('work', {})).result.task
    void client.ask('tasks/result', { taskId }, 'waiting')
    await settle()
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'waiting' } })
    await settle()
    expect(signal().aborted).toBe(false)
    go.open('done')
    expect((await client.ask('tasks/result', { taskId })).result.content[0].text).toBe('done')
    expect(client.out.some(({ id }) => id === 'waiting')).toBe(false)
  })
})

describe('questions of a task', () => {
  test('are sent on the stream of the request for the result, and name the task', async () => {
    proves('R-TASK-032', 'R-TASK-043', 'R-TASK-044', 'R-TASK-046', 'R-TASK-052')
    const client = await sessionClient(taskServer().server)
    const { taskId } = (await client.call('ask', {})).result.task
    await client.reach(taskId, 'input_required')
    expect(client.out.some(({ method }) => method === 'elicitation/create')).toBe(false)
    const waiting = client.ask('tasks/result', { taskId })
    const question = await client.until(({ method }) => method === 'elicitation/create')
    expect(question.params).toMatchObject({ message: 'Your name?', _meta: { [RELATED]: { taskId } } })
    client.send({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { name: 'Ann' } } })
    expect((await waiting).result.content[0].text).toBe('Hello, Ann')
  })

  test('stay open if the request for the result ends, and are sent with the next one', async () => {
    const client = await sessionClient(taskServer().server)
    const { taskId } = (await client.call('ask', {})).result.task
    void client.ask('tasks/result', { taskId }, 'first')
    await client.until(({ method }) => method === 'elicitation/create')
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'first' } })
    await settle()
    expect((await client.get(taskId)).status).toBe('input_required')
    const waiting = client.ask('tasks/result', { taskId })
    await settle()
    const questions = client.out.filter(({ method }) => method === 'elicitation/create')
    expect(questions).toHaveLength(2)
    client.send({ jsonrpc: '2.0', id: questions[1]?.id, result: { action: 'accept', content: { name: 'Bob' } } })
    expect((await waiting).result.content[0].text).toBe('Hello, Bob')
  })

  test('reject in the handler if the client answers with an error or the person declines', async () => {
    const { server } = taskServer()
    server.tool('careful', { task: 'required' }, async (_args, ctx) => {
      const asked = [ctx.elicit('a', 'A?', z.object({})), ctx.elicit('b', 'B?', z.object({}))]
      return (await Promise.allSettled(asked)).map((each) => (each.status === 'rejected' ? (each.reason as Error).name : 'fine')).join()
    })
    const client = await sessionClient(server)
    const { taskId } = (await client.call('careful', {})).result.task
    const waiting = client.ask('tasks/result', { taskId })
    for (const message of ['A?', 'B?']) {
      const { id } = await client.until(({ params }) => params?.message === message)
      const answer = message === 'A?' ? { error: { code: -1, message: 'no' } } : { result: { action: 'decline' } }
      client.send({ jsonrpc: '2.0', id, ...answer })
    }
    expect((await waiting).result.content[0].text).toBe('RemoteError,Declined')
  })
})

describe('notifications of a task', () => {
  test('tell the session about its status and progress, and name the task where the params do not', async () => {
    proves('R-TASK-033', 'R-TASK-036', 'R-TASK-052')
    const { server, go } = taskServer()
    server.tool('count', { task: 'optional' }, async (_args, ctx) => {
      await go.opened
      await ctx.progress(1, 2, 'half')
      return 'done'
    })
    const client = await sessionClient(server)
    const { taskId } = (await client.call('count', {}, { _meta: { progressToken: 'p' } })).result.task
    go.open(undefined)
    const progress = await client.until(({ method }) => method === 'notifications/progress')
    expect(progress.params).toMatchObject({ progressToken: 'p', progress: 1, message: 'half', _meta: { [RELATED]: { taskId } } })
    const status = await client.until(({ method, params }) => method === 'notifications/tasks/status' && params.status === 'completed')
    expect(status.params).toEqual(await client.get(taskId))
  })

  test('come after the answer that names the task', async () => {
    const { server } = taskServer()
    server.tool('eager', { task: 'optional' }, (_args, ctx) => {
      void ctx.progress(1)
      return 'done'
    })
    const client = await sessionClient(server)
    const before = client.out.length
    const { result } = await client.call('eager', {}, { _meta: { progressToken: 'p' } })
    await client.reach(result.task.taskId, 'completed')
    const [first, ...rest] = client.out.slice(before)
    expect(first?.result).toEqual(result)
    const notices = rest.filter(({ method }) => method)
    expect(notices.map(({ method }) => method)).toEqual([
      'notifications/progress',
      'notifications/tasks/status',
      'notifications/tasks/status',
    ])
    expect(notices.slice(1).map(({ params }) => params.status)).toEqual(['working', 'completed'])
  })

  test('are not needed: the task goes on without its session', async () => {
    proves('R-TASK-034')
    const { server, go, signal } = taskServer()
    const first = await sessionClient(server)
    const { taskId } = (await first.call('work', {})).result.task
    await settle()
    first.channel.close('gone')
    expect(signal().aborted).toBe(false)
    go.open('done')
    const second = await sessionClient(server)
    expect((await second.ask('tasks/result', { taskId })).result.content[0].text).toBe('done')
  })
})

test('a task that works until its time is over says so to whoever waits, and to the operator', async () => {
  const clock = fakeClock()
  const errors: string[] = []
  const { server } = taskServer({}, { clock, onError: (error) => void errors.push((error as Error).message) })
  const client = await sessionClient(server)
  const { taskId } = (await client.call('work', { ttl: 5000 })).result.task
  const waiting = client.ask('tasks/result', { taskId })
  await settle()
  await clock.advance(5001)
  expect((await waiting).error.message).toBe('The task did not end within its time of 5000 ms (ttl), and was deleted')
  expect(errors).toEqual(['The task took longer than 5000 ms (ttl)'])
})
