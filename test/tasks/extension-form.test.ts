import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { McpError, ToolError } from '../../src/server/index.ts'
import { fileTaskStore, memoryTaskStore, type TaskStore, tasks } from '../../src/tasks/index.ts'
import { fakeClock, pair } from '../../src/testing/index.ts'
import { proves } from '../support/proves.ts'
import { envelope, settle } from '../support/raw-channel.ts'
import { ABLE, EXTENSION, extensionClient, taskServer } from './task-server.ts'

const MISSING = { code: -32021, data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } } }
const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('a call that becomes a task', () => {
  test('is answered at once with the task, which is there and works', async () => {
    proves('R-TASK-086', 'R-TASK-088', 'R-TASK-089', 'R-TASK-090', 'R-TASK-097', 'R-TASK-103', 'R-TASK-087', 'R-TASK-130')
    const { server } = taskServer()
    const client = extensionClient(server)
    const { result } = await client.call('work')
    const { taskId } = result
    expect(result).toEqual({
      _meta: expect.anything(),
      resultType: 'task',
      taskId: expect.stringMatching(/^[\w-]{22}$/),
      status: 'working',
      createdAt: ISO,
      lastUpdatedAt: ISO,
      ttlMs: 3_600_000,
      pollIntervalMs: 1000,
    })
    const { resultType, ...rest } = result
    expect(await client.get(taskId)).toEqual({ ...rest, resultType: 'complete' })
  })

  test('ends with the result of the tool', async () => {
    proves('R-TASK-096', 'R-TASK-102', 'R-TASK-127')
    const { server, go } = taskServer()
    const client = extensionClient(server)
    const { taskId } = (await client.call('work')).result
    go.open('done')
    const task = await client.reach(taskId, 'completed')
    expect(task.result).toMatchObject({ resultType: 'complete', content: [{ type: 'text', text: 'done' }] })
    expect(task).not.toHaveProperty('error')
    expect(task.result._meta).not.toHaveProperty('io.modelcontextprotocol/related-task')
  })

  test('is completed if the tool reports an error, and failed only by a protocol error', async () => {
    proves('R-TASK-094', 'R-TASK-095', 'R-TASK-127', 'R-TASK-128')
    const reported = taskServer()
    const first = extensionClient(reported.server)
    const one = (await first.call('work')).result.taskId
    reported.go.open(new ToolError('no luck'))
    expect((await first.reach(one, 'completed')).result).toMatchObject({ isError: true, content: [{ type: 'text', text: 'no luck' }] })

    const broken = taskServer()
    const second = extensionClient(broken.server)
    const two = (await second.call('work')).result.taskId
    broken.go.open(new McpError('ERR_INVALID_PARAMS', 'bad input'))
    const failed = await second.reach(two, 'failed')
    expect(failed).toMatchObject({ error: { code: -32602, message: 'bad input' }, statusMessage: 'bad input' })
    expect(failed).not.toHaveProperty('result')
  })

  test('hides the text of other errors, as a plain call does', async () => {
    const { server, go, errors } = taskServer()
    const client = extensionClient(server)
    const { taskId } = (await client.call('work')).result
    go.open(new Error('secret'))
    const { result } = await client.reach(taskId, 'completed')
    expect(JSON.stringify(result)).not.toContain('secret')
    expect(result.content[0].text).toMatch(/^Internal error \(reference /)
    expect(errors).toHaveLength(1)
  })

  test('becomes a task only if it takes longer than its limit', async () => {
    proves('R-TASK-079', 'R-TASK-084')
    const { server, go } = taskServer()
    const client = extensionClient(server)
    expect((await client.call('quick')).result).toMatchObject({ resultType: 'complete', content: [{ text: 'quick' }] })
    expect((await client.call('plain')).result).toMatchObject({ resultType: 'complete', content: [{ text: 'plain' }] })
    const { result } = await client.call('slow')
    expect(result).toMatchObject({ resultType: 'task', status: 'working' })
    go.open('late')
    expect((await client.reach(result.taskId, 'completed')).result.content[0].text).toBe('late')
  })

  test('begins with what the handler said about its progress before', async () => {
    const { server, go } = taskServer()
    server.tool('steps', { task: 'optional' }, async (_args, ctx) => {
      await ctx.progress(1, 3, 'first step')
      return String(await go.opened)
    })
    const client = extensionClient(server)
    const { result } = await client.call('steps')
    expect(result).toMatchObject({ resultType: 'task', status: 'working', statusMessage: 'first step' })
    expect(await client.get(result.taskId)).toMatchObject({ statusMessage: 'first step' })
    go.open('done')
    await client.reach(result.taskId, 'completed')
  })

  test('never becomes a task for a client without the extension', async () => {
    proves('R-TASK-080', 'R-TASK-083')
    const { server, go } = taskServer()
    const client = extensionClient(server)
    expect((await client.call('only', {}, {})).error).toMatchObject(MISSING)
    const plain = client.call('work', {}, {})
    await settle()
    go.open('plain after all')
    expect((await plain).result).toMatchObject({ resultType: 'complete', content: [{ text: 'plain after all' }] })
  })

  test('ignores the wish for a task of an older revision', async () => {
    const client = extensionClient(taskServer().server)
    const { result } = await client.request('tools/call', { name: 'quick', task: { ttl: 5 } })
    expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'quick' }] })
  })

  test('outlives the connection that started it', async () => {
    const { server, go, signal } = taskServer()
    const first = extensionClient(server)
    const { taskId } = (await first.call('slow')).result
    first.channel.close('gone')
    expect(signal().aborted).toBe(false)
    go.open('done')
    expect((await extensionClient(server).reach(taskId, 'completed')).result.content[0].text).toBe('done')
  })

  test('stops with its request as long as it is not a task', async () => {
    const { server, signal } = taskServer({ afterMs: 60_000 })
    const client = extensionClient(server)
    void client.call('slow')
    await settle()
    client.channel.close('gone')
    expect(signal().aborted).toBe(true)
  })
})

describe('requests about tasks', () => {
  test('need the extension and a task that exists', async () => {
    proves('R-TASK-125', 'R-TASK-126', 'R-TASK-114')
    const client = extensionClient(taskServer().server)
    const { taskId } = (await client.call('work')).result
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      expect((await client.request(method, { taskId, inputResponses: {} }, {})).error).toMatchObject(MISSING)
      const { error } = await client.request(method, { taskId: 'unknown', inputResponses: {} })
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('Task not found') })
      expect((await client.request(method, { inputResponses: {} })).error.code).toBe(-32602)
    }
  })

  test('do not include list and result', async () => {
    proves('R-TASK-129')
    const client = extensionClient(taskServer().server)
    const { taskId } = (await client.call('work')).result
    for (const method of ['tasks/list', 'tasks/result']) expect((await client.request(method, { taskId })).error.code).toBe(-32601)
  })

  test('of another caller find nothing', async () => {
    proves('R-TASK-131')
    const { server } = taskServer()
    const owner = extensionClient(server, { principal: 'ann' })
    const { taskId } = (await owner.call('work')).result
    for (const other of [extensionClient(server, { principal: 'bob' }), extensionClient(server)])
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        const params = { taskId, inputResponses: {} }
        const unknown = await other.request(method, { ...params, taskId: 'AAAAAAAAAAAAAAAAAAAAAA' })
        expect((await other.request(method, params)).error).toEqual(unknown.error)
      }
    expect((await extensionClient(server, { principal: 'ann' }).get(taskId)).status).toBe('working')
  })

  test('cancel a task: its signal is aborted and nothing is recorded later', async () => {
    proves('R-TASK-117', 'R-TASK-118')
    const { server, go, signal } = taskServer()
    const client = extensionClient(server)
    const { taskId } = (await client.call('work')).result
    await settle()
    const { result } = await client.request('tasks/cancel', { taskId })
    expect(result).toEqual({ resultType: 'complete', _meta: expect.anything() })
    expect(signal().aborted).toBe(true)
    const cancelled = await client.get(taskId)
    expect(cancelled.status).toBe('cancelled')
    go.open('too late')
    await settle()
    expect(await client.get(taskId)).toEqual(cancelled)
    expect((await client.request('tasks/cancel', { taskId })).result).toEqual(result)
  })
})

test('a task that is cancelled before its handler starts never starts', async () => {
  const { server, signal } = taskServer()
  const client = extensionClient(server)
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'work', _meta: envelope(ABLE) } })
  const { result } = await client.until(({ id }) => id === 1)
  await client.request('tasks/cancel', { taskId: result.taskId })
  await settle()
  expect(signal()).toBeUndefined()
})

describe('questions of a task', () => {
  const answered = { name: { action: 'accept', content: { name: 'Ann' } } }

  test('are part of the task until they are answered', async () => {
    proves('R-TASK-102', 'R-TASK-106', 'R-TASK-112', 'R-TASK-114')
    const client = extensionClient(taskServer().server)
    const { taskId } = (await client.call('ask')).result
    const task = await client.reach(taskId, 'input_required')
    expect(task.inputRequests).toMatchObject({ name: { method: 'elicitation/create', params: { message: 'Your name?' } } })
    const ignored = await client.request('tasks/update', { taskId, inputResponses: { other: { action: 'accept' } } })
    expect(ignored.result).toEqual({ resultType: 'complete', _meta: expect.anything() })
    expect((await client.get(taskId)).status).toBe('input_required')
    await client.request('tasks/update', { taskId, inputResponses: answered })
    expect((await client.reach(taskId, 'completed')).result.content[0].text).toBe('Hello, Ann')
    expect((await client.request('tasks/update', { taskId, inputResponses: answered })).result.resultType).toBe('complete')
  })

  test('refuse answers that do not fit', async () => {
    const client = extensionClient(taskServer().server)
    const { taskId } = (await client.call('ask')).result
    await client.reach(taskId, 'input_required')
    for (const name of [5, {}, { action: 'accept', content: { name: 5 } }]) {
      const { error } = await client.request('tasks/update', { taskId, inputResponses: { name } })
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('The answer to elicitation/create is invalid') })
    }
    expect((await client.request('tasks/update', { taskId })).error.code).toBe(-32602)
    expect((await client.get(taskId)).status).toBe('input_required')
  })

  test('can be answered one after the other', async () => {
    proves('R-TASK-110', 'R-TASK-115')
    const { server } = taskServer()
    const text = z.object({ text: z.string() })
    server.tool('two', { task: 'required' }, async (_args, ctx) => {
      const [a, b] = await Promise.all([ctx.elicit('a', 'A?', text), ctx.elicit('b', 'B?', text)])
      return `${a.text}${b.text}`
    })
    const client = extensionClient(server)
    const { taskId } = (await client.call('two')).result
    expect(Object.keys((await client.reach(taskId, 'input_required')).inputRequests)).toEqual(['a', 'b'])
    const reply = (key: string) =>
      client.request('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content: { text: key } } } })
    await reply('b')
    expect(Object.keys((await client.reach(taskId, 'input_required')).inputRequests)).toEqual(['a'])
    await reply('a')
    expect((await client.reach(taskId, 'completed')).result.content[0].text).toBe('ab')
  })

  test('asked before the task begins travel as in a plain call', async () => {
    proves('R-TASK-092')
    const { server, go } = taskServer()
    let steps = 0
    server.tool('both', { task: 'optional', taskAfterMs: 200 }, async (_args, ctx) => {
      const step = await ctx.once('step', () => ++steps)
      const { name } = await ctx.elicit('name', 'Your name?', z.object({ name: z.string() }))
      await go.opened
      const { name: other } = await ctx.elicit('other', 'Another?', z.object({ name: z.string() }))
      return `${step} ${name} ${other}`
    })
    const client = extensionClient(server)
    const asked = (await client.call('both')).result
    expect(asked.resultType).toBe('input_required')
    const { requestState } = asked
    const { result } = await client.request('tools/call', { name: 'both', arguments: {}, requestState, inputResponses: answered })
    expect(result.resultType).toBe('task')
    for (const member of ['requestState', 'inputRequests']) expect(result).not.toHaveProperty(member)
    go.open(undefined)
    const { taskId } = result
    expect(Object.keys((await client.reach(taskId, 'input_required')).inputRequests)).toEqual(['other'])
    await client.request('tasks/update', { taskId, inputResponses: { other: { action: 'accept', content: { name: 'Bob' } } } })
    const done = await client.reach(taskId, 'completed')
    expect(done.result.content[0].text).toBe('1 Ann Bob')
    expect(steps).toBe(1)
  })
})

describe('status notifications', () => {
  test('carry the whole task to clients that listen for it', async () => {
    proves('R-TASK-120', 'R-TASK-121', 'R-TASK-123')
    const { server, go } = taskServer()
    const client = extensionClient(server)
    const { taskId } = (await client.call('work')).result
    const listener = extensionClient(server)
    void listener.request('subscriptions/listen', { notifications: { taskIds: [taskId, 'unknown'], toolsListChanged: true } })
    const { params } = await listener.until(({ method }) => method === 'notifications/subscriptions/acknowledged')
    expect(params.notifications).toEqual({ toolsListChanged: true, taskIds: [taskId] })
    await client.call('work')
    go.open('done')
    const notice = await listener.until(({ method }) => method === 'notifications/tasks')
    const { _meta, ...told } = notice.params
    const { _meta: _, resultType, ...task } = await client.get(taskId)
    expect(told).toEqual(task)
    expect(_meta['io.modelcontextprotocol/subscriptionId']).toBeDefined()
    await settle()
    expect(listener.out.filter(({ method }) => method === 'notifications/tasks')).toHaveLength(1)
    expect(client.out.some(({ method }) => method === 'notifications/tasks')).toBe(false)
  })

  test('are refused to clients without the extension, and for tasks of others', async () => {
    proves('R-TASK-122')
    const { server } = taskServer()
    const ann = extensionClient(server, { principal: 'ann' })
    const { taskId } = (await ann.call('work')).result
    expect((await ann.request('subscriptions/listen', { notifications: { taskIds: [taskId] } }, {})).error).toMatchObject(MISSING)
    expect((await ann.request('subscriptions/listen', { notifications: { taskIds: 'x' } })).error.code).toBe(-32602)
    const bob = extensionClient(server, { principal: 'bob' })
    void bob.request('subscriptions/listen', { notifications: { taskIds: [taskId] } })
    const { params } = await bob.until(({ method }) => method === 'notifications/subscriptions/acknowledged')
    expect(params.notifications).toEqual({ taskIds: [] })
  })

  test('count as requests about tasks, a listener of many tasks as several', async () => {
    const clock = fakeClock()
    const { server } = taskServer({ limits: { taskRequests: { perSecond: 1, burst: 4 } } }, { clock })
    const client = extensionClient(server)
    const many = Array.from({ length: 101 }, (_, i) => `t${i}`)
    void client.request('subscriptions/listen', { notifications: { taskIds: many } })
    await client.until(({ method }) => method === 'notifications/subscriptions/acknowledged')
    void client.request('subscriptions/listen', { notifications: { taskIds: ['a'] } })
    await settle()
    const refused = { data: { limit: 'taskRequests', retryAfterMs: 1000 } }
    expect((await client.request('subscriptions/listen', { notifications: { taskIds: ['a'] } })).error).toMatchObject(refused)
    expect((await client.request('tasks/get', { taskId: 'a' })).error).toMatchObject(refused)
  })

  test('do not read the content of tasks when a client begins to listen', async () => {
    const store = memoryTaskStore()
    let reads = 0
    const counted: TaskStore = {
      ...store,
      head: store.read,
      read: (owner, taskId) => {
        reads++
        return store.read(owner, taskId)
      },
    }
    const client = extensionClient(taskServer({ store: counted }).server)
    const { taskId } = (await client.call('work')).result
    await settle()
    const before = reads
    void client.request('subscriptions/listen', { notifications: { taskIds: [taskId] } })
    const { params } = await client.until(({ method }) => method === 'notifications/subscriptions/acknowledged')
    expect([params.notifications.taskIds, reads]).toEqual([[taskId], before])
  })

  test('progress becomes the status message, and no notification', async () => {
    const { server, go } = taskServer()
    server.tool('count', { task: 'required' }, async (_args, ctx) => {
      await ctx.progress(1, 3, 'first of three')
      ctx.log.error('broken')
      await go.opened
      return 'done'
    })
    const client = extensionClient(server)
    const _meta = { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'debug' }
    const { taskId } = (await client.request('tools/call', { name: 'count', _meta })).result
    await client.reach(taskId, 'working')
    await expect.poll(async () => (await client.get(taskId)).statusMessage).toBe('first of three')
    expect(client.out.some(({ method }) => method !== undefined)).toBe(false)
  })
})

test('the extension is declared, and not the capability of the older revision', async () => {
  proves('R-TASK-078')
  const { result } = await extensionClient(taskServer().server).request('server/discover')
  expect(result.capabilities.extensions).toEqual({ [EXTENSION]: {} })
  expect(result.capabilities).not.toHaveProperty('tasks')
  const { tools } = (await extensionClient(taskServer().server).request('tools/list')).result
  expect(JSON.stringify(tools)).not.toMatch(/execution|task/)
})

test.each([
  [{ ttlMs: -5 }, 'tasks: ttlMs must be a whole number of milliseconds, not -5'],
  [{ pollIntervalMs: 'often' }, 'not "often"'],
  [{ store: '/tmp/tasks' }, 'tasks: store must be a TaskStore such as fileTaskStore(folder), not "/tmp/tasks"'],
  [{ onChange: 5 }, 'tasks: onChange must be a function, not 5'],
])('the options %j are refused', (options, message) => {
  expect(() => tasks(options as never)).toThrow(message)
})

test('a store of files needs a folder', () => {
  expect(() => fileTaskStore(undefined as never)).toThrow('fileTaskStore: expected the path of a folder, got undefined')
})

test('resuming a task in a revision without tasks names the revision', async () => {
  const { client, close } = await pair(taskServer().server, { revision: '2025-06-18' })
  await expect(client.resumeTask('x')).rejects.toMatchObject({ message: expect.stringContaining('protocol revision 2025-06-18') })
  await close()
})
