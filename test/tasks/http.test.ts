import { expect, test } from 'vitest'
import { fileTaskStore } from '../../src/tasks/index.ts'
import type { EventReader } from '../support/http-requests.ts'
import { httpStream } from '../support/http-requests.ts'
import { type Asked, askModern, byHeader, modern, openSession, serve } from '../support/http-service.ts'
import { proves } from '../support/proves.ts'
import { envelope, type Message } from '../support/raw-channel.ts'
import { until } from '../support/until.ts'
import { ABLE, taskServer } from './task-server.ts'

const asked = (method: string, params: Message): Asked => ({ method, params: { ...params, _meta: envelope(ABLE) } })
const named = (taskId: string): Record<string, string> => ({ 'mcp-name': taskId })

async function json(url: string, method: string, params: Message, headers: Record<string, string> = {}): Promise<Message> {
  const { text } = await askModern(url, asked(method, params), { ...(params.taskId ? named(params.taskId) : {}), ...headers })
  return JSON.parse(text) as Message
}

test('a stateless call becomes a task that goes on after its connection, and any request can ask for it', async () => {
  const { server, go, signal } = taskServer()
  const { url } = await serve(server)
  const { result } = await json(url, 'tools/call', { name: 'slow', arguments: {} })
  expect(result).toMatchObject({ resultType: 'task', status: 'working' })
  const { taskId } = result
  expect(signal().aborted).toBe(false)
  go.open('done')
  await until(async () => (await json(url, 'tasks/get', { taskId })).result.status === 'completed')
})

test('a client that disconnects before there is a task stops the call', async () => {
  const { server, signal } = taskServer({ afterMs: 60_000 })
  const { url } = await serve(server)
  const { headers, body } = modern(asked('tools/call', { name: 'slow', arguments: {} }))
  const controller = new AbortController()
  const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const call = fetch(url, { method: 'POST', headers: { ...usual, ...headers }, body: JSON.stringify(body), signal: controller.signal })
  call.catch(() => {})
  await until(() => signal() !== undefined)
  controller.abort()
  await until(() => signal().aborted)
})

test('requests about a task must repeat its id in a header', async () => {
  const { url } = await serve(taskServer().server)
  const { taskId } = (await json(url, 'tools/call', { name: 'work', arguments: {} })).result
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const params = { taskId, inputResponses: {} }
    for (const headers of [{}, named('other')]) {
      const { status, text } = await askModern(url, asked(method, params), headers)
      expect([status, JSON.parse(text).error.code]).toEqual([400, -32020])
    }
  }
})

test('a task belongs to the authenticated caller', async () => {
  proves('R-TASK-071', 'R-TASK-131')
  const { server } = taskServer()
  const { url } = await serve(server, { authenticate: byHeader })
  const { taskId } = (await json(url, 'tools/call', { name: 'work', arguments: {} }, { 'x-user': 'ann' })).result
  expect((await json(url, 'tasks/get', { taskId }, { 'x-user': 'ann' })).result.status).toBe('working')
  expect((await json(url, 'tasks/get', { taskId }, { 'x-user': 'bob' })).error.code).toBe(-32602)
})

test('a caller without the scopes of a tool cannot get, list or hear of its tasks', async () => {
  const { server, go } = taskServer()
  server.tool('salaries', { task: 'required', scopes: ['payroll'] }, async () => String(await go.opened))
  const { url } = await serve(server, {
    authenticate: (request) => {
      const scopes = (request.header('x-scopes') ?? '').split(' ')
      const auth = { issuer: 'i', subject: 's', clientId: 'c', scopes, claims: {}, expiresAt: Date.now() + 60_000 }
      return { principal: 'ann', auth }
    },
  })
  const wide = { 'x-scopes': 'payroll' }
  const { taskId } = (await json(url, 'tools/call', { name: 'salaries', arguments: {} }, wide)).result
  expect((await json(url, 'tasks/get', { taskId })).error.message).toContain('Missing scope')
  const listed = []
  for (const headers of [{}, wide]) {
    const session = await openSession(url, '2025-11-25', { headers })
    listed.push(JSON.parse((await session.ask({ method: 'tasks/list' }, headers)).text).result.tasks.length)
  }
  expect(listed).toEqual([0, 1])
  const heard = []
  for (const headers of [{}, wide]) {
    const stream = await httpStream(url, modern(asked('subscriptions/listen', { notifications: { taskIds: [taskId] } }), headers))
    heard.push((await messageIn(stream, ({ method }) => method === 'notifications/subscriptions/acknowledged')).params.notifications)
  }
  expect(heard).toEqual([{ taskIds: [] }, { taskIds: [taskId] }])
})

test('callers without authentication may ask for an hour, and leave a quarter of the room to others', async () => {
  const { server } = taskServer({ limits: { maxTasks: 8, maxTasksPerCaller: 5 } })
  const open = await serve(server, { trustProxy: true })
  const closed = await serve(server, { authenticate: byHeader })
  const create = async (url: string, headers: Record<string, string>): Promise<Message> => {
    const session = await openSession(url, '2025-11-25', { headers })
    const { text } = await session.ask({ method: 'tools/call', params: { name: 'work', task: { ttl: 86_400_000 } } }, headers)
    return JSON.parse(text)
  }
  const from = (address: string) => ({ 'x-forwarded-for': address })
  expect((await create(open.url, from('192.0.2.1'))).result.task.ttl).toBe(3_600_000)
  for (let i = 0; i < 4; i++) await create(open.url, from('192.0.2.1'))
  expect((await create(open.url, from('192.0.2.1'))).error).toMatchObject({ data: { limit: 'maxTasksPerCaller', max: 5 } })
  expect((await create(open.url, from('192.0.2.2'))).error).toBeUndefined()
  // Many addresses cannot take the room of callers that are known.
  expect((await create(open.url, from('192.0.2.3'))).error).toMatchObject({
    message: 'Too many tasks: at most 6 without authentication (limits.maxTasks), finished tasks that are kept included',
    data: { limit: 'maxTasks', max: 6 },
  })
  expect((await create(closed.url, { 'x-user': 'ann' })).result.task.ttl).toBe(86_400_000)
  expect((await create(closed.url, { 'x-user': 'bob' })).error).toBeUndefined()
  expect((await create(closed.url, { 'x-user': 'bob' })).error).toMatchObject({ data: { limit: 'maxTasks', max: 8 } })
})

test('maxAnonymousTtlMs changes the longest time, up to maxTtlMs', async () => {
  const ttlWith = async (options: { maxAnonymousTtlMs?: number; maxTtlMs?: number; ttlMs?: number }): Promise<number> => {
    const { url } = await serve(taskServer(options).server)
    const session = await openSession(url, '2025-11-25')
    return JSON.parse((await session.ask({ method: 'tools/call', params: { name: 'work', task: { ttl: 86_400_000 } } })).text).result.task
      .ttl
  }
  expect(await ttlWith({ maxAnonymousTtlMs: 7_200_000 })).toBe(7_200_000)
  expect(await ttlWith({ maxAnonymousTtlMs: 7_200_000, maxTtlMs: 5_400_000 })).toBe(5_400_000)
  // What the server gives to everyone is not cut.
  expect(await ttlWith({ ttlMs: 10_800_000 })).toBe(10_800_000)
})

test('in a session the status comes as JSON, and the result on a stream with the questions', async () => {
  proves('R-TASK-026')
  const { server } = taskServer()
  const { url } = await serve(server)
  const session = await openSession(url, '2025-11-25', { capabilities: { elicitation: {} } })
  const created = await session.ask({ method: 'tools/call', params: { name: 'ask', task: {} } })
  const { taskId } = JSON.parse(created.text).result.task
  await until(async () => {
    const { headers, text } = await session.ask({ method: 'tasks/get', params: { taskId }, id: 2 })
    expect(headers['content-type']).toContain('application/json')
    return JSON.parse(text).result.status === 'input_required'
  })
  const stream = await session.askStream({ method: 'tasks/result', params: { taskId }, id: 3 })
  const question = await messageIn(stream, ({ method }) => method === 'elicitation/create')
  await session.post({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { name: 'Ann' } } })
  const answer = await messageIn(stream, ({ id, method }) => id === 3 && method === undefined)
  expect(answer.result.content[0].text).toBe('Hello, Ann')
})

test('a task goes on after its session was ended, and can be fetched in another one', async () => {
  const { server, go } = taskServer()
  server.tool('report', { task: 'required' }, async (_args, ctx) => {
    const value = await go.opened
    await ctx.progress(1)
    return String(value)
  })
  const { url } = await serve(server)
  const first = await openSession(url, '2025-11-25')
  const { text } = await first.ask({ method: 'tools/call', params: { name: 'report', task: {}, _meta: { progressToken: 1 } } })
  const { taskId } = JSON.parse(text).result.task
  expect((await first.end()).status).toBeLessThan(300)
  go.open('done')
  const second = await openSession(url, '2025-11-25')
  const { message } = await second.ask({ method: 'tasks/result', params: { taskId } })
  expect(message.result.content[0].text).toBe('done')
})

test('a store that fails gives an internal error and does not end the server', async () => {
  const broken = fileTaskStore('/dev/null/tasks')
  const { server, errors } = taskServer({ store: broken })
  const { url } = await serve(server)
  const { result } = await json(url, 'tools/call', { name: 'work', arguments: {} })
  expect(result.content[0].text).toMatch(/^Internal error/)
  const { error } = await json(url, 'tasks/get', { taskId: 'x' })
  expect(error.message).toMatch(/^Internal error/)
  expect(errors.map((each) => (each as { code?: string }).code)).toEqual(['ERR_STORE', 'ERR_STORE'])
  expect((await json(url, 'tools/call', { name: 'plain', arguments: {} })).result.content[0].text).toBe('plain')
})

async function messageIn(stream: EventReader, fits: (message: Message) => boolean): Promise<Message> {
  for (;;) {
    const message = await stream.message()
    if (fits(message)) return message
  }
}
