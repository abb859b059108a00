import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { httpHandler } from '../../src/http/index.ts'
import { connect } from '../../src/index.ts'
import { serve } from '../support/http-service.ts'
import { proves } from '../support/proves.ts'
import { settle } from '../support/raw-channel.ts'
import { until } from '../support/until.ts'
import { ABLE, extensionClient, sessionClient, taskServer } from './task-server.ts'

const MUTE = { extensions: ABLE.extensions }
const NEEDED = { 'dev.portico/neededCapabilities': { elicitation: { form: {} } } }
const MESSAGE = '"ask" asks the user a question, and this client cannot show one (elicitation.form). The task waits for a client that can'

describe('a task of the extension whose client cannot answer', () => {
  test('shows its question only to requests that can answer it', async () => {
    proves('R-MRTR-020', 'R-TASK-102')
    const client = extensionClient(taskServer().server)
    const { taskId } = (await client.call('ask', {}, MUTE)).result
    const able = await client.reach(taskId, 'input_required')
    expect(Object.keys(able.inputRequests)).toEqual(['name'])
    expect(able).not.toHaveProperty('statusMessage')
    const mute = (await client.request('tasks/get', { taskId }, MUTE)).result
    expect(mute).toMatchObject({ status: 'input_required', statusMessage: MESSAGE, inputRequests: {}, _meta: NEEDED })
    expect(mute.inputRequests).toEqual({})
    const inputResponses = { name: { action: 'accept', content: { name: 'Ann' } } }
    await client.request('tasks/update', { taskId, inputResponses })
    expect((await client.reach(taskId, 'completed')).result.content[0].text).toBe('Hello, Ann')
    expect((await client.request('tasks/get', { taskId }, MUTE)).result.result.content[0].text).toBe('Hello, Ann')
  })

  test('shows those of several questions that the request can answer', async () => {
    const { server } = taskServer()
    server.tool('both', { task: 'required' }, async (_args, ctx) => {
      const words = { messages: [], maxTokens: 10 }
      const asked = [ctx.elicit('form', 'A?', z.object({})), ctx.sample('model', words)]
      await Promise.all(asked)
      return 'done'
    })
    const client = extensionClient(server)
    const { taskId } = (await client.call('both', {}, MUTE)).result
    expect(Object.keys((await client.reach(taskId, 'input_required')).inputRequests)).toEqual(['form', 'model'])
    const { result } = await client.request('tasks/get', { taskId }, { ...MUTE, sampling: {} })
    expect(Object.keys(result.inputRequests)).toEqual(['model'])
    expect(result._meta).toMatchObject(NEEDED)
  })

  test('is not told to listeners that cannot answer it while it asks', async () => {
    const { server, go } = taskServer()
    server.tool('later', { task: 'required' }, async (_args, ctx) => {
      await go.opened
      await ctx.elicit('a', 'A?', z.object({}))
      return 'done'
    })
    const client = extensionClient(server)
    const { taskId } = (await client.call('later', {}, MUTE)).result
    const [mute, able] = [extensionClient(server), extensionClient(server)]
    const notifications = { taskIds: [taskId] }
    void mute.request('subscriptions/listen', { notifications }, MUTE)
    void able.request('subscriptions/listen', { notifications })
    for (const each of [mute, able]) await each.until(({ method }) => method === 'notifications/subscriptions/acknowledged')
    go.open('now')
    const { params } = await able.until(({ method }) => method === 'notifications/tasks')
    expect(params).toMatchObject({ status: 'input_required', inputRequests: { a: {} } })
    await client.request('tasks/update', { taskId, inputResponses: { a: { action: 'accept', content: {} } } })
    await mute.until(({ method, params: told }) => method === 'notifications/tasks' && told.status === 'completed')
    expect(mute.out.filter((message) => JSON.stringify(message).includes('inputRequests'))).toEqual([])
  })

  test('fails if it asks for folders, which only its own client has', async () => {
    const { server } = taskServer()
    server.tool('folders', { task: 'required' }, async (_args, ctx) => `${(await ctx.roots()).length}`)
    const client = extensionClient(server)
    const { taskId } = (await client.call('folders', {}, MUTE)).result
    expect((await client.reach(taskId, 'failed')).error.code).toBe(-32021)
  })
})

test('in a session that cannot answer, the result is waited for and the question goes to another session', async () => {
  proves('R-TASK-043', 'R-TASK-045')
  const { server } = taskServer()
  const [mute, able] = [await sessionClient(server, { capabilities: {} }), await sessionClient(server)]
  const { taskId } = (await mute.call('ask', {})).result.task
  expect(await mute.reach(taskId, 'input_required')).toMatchObject({ statusMessage: MESSAGE, _meta: NEEDED })
  expect(await able.get(taskId)).not.toHaveProperty('statusMessage')
  const waiting = mute.ask('tasks/result', { taskId })
  const asking = able.ask('tasks/result', { taskId })
  const { id } = await able.until(({ method }) => method === 'elicitation/create')
  able.send({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'Bob' } } })
  for (const each of [waiting, asking]) expect((await each).result.content[0].text).toBe('Hello, Bob')
  await settle()
  expect(mute.out.some(({ method }) => method === 'elicitation/create')).toBe(false)
})

describe.each(['2025-11-25', '2026-07-28'])('a script without answers, in %s', (revision) => {
  test('starts a task that a person finishes with another client, and gets its result', async () => {
    const { server } = taskServer({ pollIntervalMs: 20 })
    const { url } = await serve(server)
    const script = await connect(url, { revisions: [revision] })
    const person = await connect(url, {
      revisions: [revision],
      answer: { elicit: () => ({ action: 'accept', content: { name: 'Ann' } }) },
    })
    onTestFinished(async () => void (await Promise.all([script.close(), person.close()])))
    const started = await script.callTask('ask')
    await until(() => started.status === 'input_required' && started.statusMessage === MESSAGE)
    const resumed = await person.resumeTask(started.id as string)
    for (const task of [resumed, started]) expect((await task.result()).content).toEqual([{ type: 'text', text: 'Hello, Ann' }])
  })

  test('gets an error from a plain call, which cancels the task', async () => {
    const changes: string[] = []
    const { server } = taskServer({ pollIntervalMs: 20, onChange: ({ status }) => changes.push(status) })
    const { url } = await serve(server)
    const script = await connect(url, { revisions: [revision] })
    onTestFinished(() => script.close())
    await expect(script.call('ask')).rejects.toMatchObject({
      code: 'ERR_CAPABILITY_MISSING',
      message: expect.stringContaining('The task asks a question that this client cannot answer (elicitation)'),
      data: { taskId: expect.any(String), requiredCapabilities: { elicitation: { form: {} } } },
    })
    await until(() => changes.at(-1) === 'cancelled')
  })
})

test('a client says once that the server of its task cannot be reached, and once that it is back', async () => {
  const { server, go, signal } = taskServer({ pollIntervalMs: 20 })
  const handler = httpHandler(server)
  let isDown = false
  let refused = 0
  const http = createHttpServer((request, response) => {
    if (!isDown) return handler.node(request, response)
    refused++
    request.socket.destroy()
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await handler.close()
    http.closeAllConnections()
    http.close()
  })
  const warnings: string[] = []
  const client = await connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, { onWarning: (text) => warnings.push(text) })
  onTestFinished(() => client.close())
  const called = client.call('only')
  await until(() => signal() !== undefined)
  isDown = true
  await until(() => warnings.length > 0 && refused > 1)
  isDown = false
  await until(() => warnings.length > 1)
  go.open('done')
  expect((await called).content).toEqual([{ type: 'text', text: 'done' }])
  expect(warnings[0]).toMatch(/^The server cannot be asked for the task [\w-]{22}: .+\. The client tries again in 0\.04 s$/)
  expect(warnings[1]).toMatch(/^The server can be reached again: the task [\w-]{22} is followed$/)
  expect(warnings).toHaveLength(2)
})

describe('a question that two sessions show', () => {
  const answer = (id: unknown, text: string) => ({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name: text } } })

  async function shown(limits = {}) {
    const { server, go } = taskServer({}, { limits })
    server.tool('twice', { task: 'required' }, async (_args, ctx) => {
      const { name } = await ctx.elicit('name', 'Your name?', z.object({ name: z.string() }))
      await go.opened
      return `Hello, ${name}`
    })
    const clients = [await sessionClient(server), await sessionClient(server)] as const
    const { taskId } = (await clients[0].call('twice', {})).result.task
    const results = clients.map((client) => client.ask('tasks/result', { taskId }))
    const ids: unknown[] = []
    for (const client of clients) ids.push((await client.until(({ method }) => method === 'elicitation/create')).id)
    return { clients, ids, results, go, taskId }
  }

  test('is withdrawn from the one when the other has answered, and one answer counts', async () => {
    const { clients, ids, results, go } = await shown()
    clients[1].send(answer(ids[1], 'Bob'))
    const { params } = await clients[0].until(({ method }) => method === 'notifications/cancelled')
    expect(params).toMatchObject({ requestId: ids[0] })
    clients[0].send(answer(ids[0], 'Ann'))
    await settle()
    go.open('now')
    for (const result of results) expect((await result).result.content[0].text).toBe('Hello, Bob')
    expect(clients[1].out.some(({ method }) => method === 'notifications/cancelled')).toBe(false)
  })

  test('is withdrawn when the task is cancelled', async () => {
    const { clients, ids, taskId } = await shown()
    await clients[1].ask('tasks/cancel', { taskId })
    for (const [index, client] of clients.entries()) {
      const { params } = await client.until(({ method }) => method === 'notifications/cancelled')
      expect(params).toMatchObject({ requestId: ids[index] })
    }
  })

  test('waits longer than a question of a plain call', async () => {
    const { clients, ids, results, go } = await shown({ askTimeoutMs: 1 })
    await new Promise((resolve) => setTimeout(resolve, 50))
    clients[0].send(answer(ids[0], 'Ann'))
    go.open('now')
    for (const result of results) expect((await result).result.content[0].text).toBe('Hello, Ann')
  })
})
