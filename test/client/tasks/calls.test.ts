import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { Client, type Progress } from '../../../src/client/index.ts'
import { connect } from '../../../src/index.ts'
import { createServer, McpError, type Server, ToolError } from '../../../src/server/index.ts'
import { type PairOptions, pair } from '../../../src/testing/index.ts'
import { byHeader, serve } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import { settle } from '../../support/raw-channel.ts'
import { cannedServer } from '../../support/scripted-server.ts'
import { until } from '../../support/until.ts'
import { taskServer } from '../../tasks/task-server.ts'
import { created, DONE, FORMS, pass, scripted, taskIn } from './scripted-tasks.ts'

async function connected(server: Server, options: PairOptions): Promise<Client> {
  const { client, close } = await pair(server, { answer: { elicit: () => ({ action: 'accept', content: { name: 'Ann' } }) }, ...options })
  onTestFinished(close)
  return client
}

for (const revision of FORMS)
  describe(`with tasks of ${revision}`, () => {
    test('a call returns the result of a tool that runs only as a task', async () => {
      proves('R-TASK-081', 'R-TASK-013', 'R-TASK-017')
      const { server, go } = taskServer({ pollIntervalMs: 20 })
      const client = await connected(server, { revision })
      const called = client.call('only')
      setTimeout(() => go.open('done'), 50)
      expect((await called).content).toEqual([{ type: 'text', text: 'done' }])
    })

    test('a call answers the questions of its task', async () => {
      proves('R-TASK-045', 'R-TASK-106', 'R-TASK-107')
      const { server } = taskServer({ pollIntervalMs: 20 })
      const client = await connected(server, { revision })
      expect((await client.call('ask')).content).toEqual([{ type: 'text', text: 'Hello, Ann' }])
    })

    test('a handle shows the changes, the result and the id', async () => {
      const { server, go } = taskServer({ pollIntervalMs: 20 })
      const client = await connected(server, { revision })
      const task = await client.callTask('work')
      expect(task.status).toBe('working')
      expect(task.id).toMatch(/^[\w-]{22}$/)
      setTimeout(() => go.open('done'), 50)
      const seen = []
      for await (const { status } of task) seen.push(status)
      expect(seen).toEqual(['working', 'completed'])
      expect((await task.result()).content).toEqual([{ type: 'text', text: 'done' }])
      expect((await (await client.resumeTask(task.id as string)).result()).content).toEqual([{ type: 'text', text: 'done' }])
    })

    test('a loop over a handle that is returned ends at once, and the task goes on', async () => {
      const { server, go } = taskServer({ pollIntervalMs: 20 })
      const client = await connected(server, { revision })
      const task = await client.callTask('work')
      const loop = task[Symbol.asyncIterator]()
      expect(await loop.next()).toMatchObject({ value: { status: 'working' } })
      const next = loop.next()
      expect(await loop.return?.()).toMatchObject({ done: true })
      expect(await next).toMatchObject({ done: true })
      go.open('done')
      expect((await task.result()).content).toEqual([{ type: 'text', text: 'done' }])
    })

    test('a call that takes too long names the limit that was given', async () => {
      const client = await connected(taskServer({ pollIntervalMs: 20 }).server, { revision })
      const message = 'The task did not end within 1000 ms (maxTotalMs, or limits.maxTaskMs)'
      await expect(client.call('only', {}, { maxTotalMs: 1000 })).rejects.toMatchObject({ code: 'ERR_TIMEOUT', message })
    })

    test('a handle cancels', async () => {
      const { server, signal } = taskServer({ pollIntervalMs: 20 })
      const client = await connected(server, { revision })
      const task = await client.callTask('work')
      await until(() => signal() !== undefined)
      await task.cancel()
      expect(signal().aborted).toBe(true)
      expect(task.status).toBe('cancelled')
      const message = 'The task was cancelled: The client asked for it'
      await expect(task.result()).rejects.toMatchObject({ code: 'ERR_CANCELLED', message })
    })

    test('a client that is closed directly after an abort has cancelled the task', async () => {
      const { server, signal } = taskServer({ pollIntervalMs: 20 })
      const { url } = await serve(server)
      const client = await connect(url, { revisions: [revision] })
      const controller = new AbortController()
      const called = client.call('only', {}, { signal: controller.signal })
      await until(() => signal() !== undefined)
      // The answer that names the task has come.
      await new Promise((resolve) => setTimeout(resolve, 100))
      controller.abort()
      await expect(called).rejects.toThrow()
      await client.close()
      await until(() => signal().aborted)
    })

    test('aborting a call cancels its task, and the call rejects with the reason', async () => {
      proves('R-TASK-116')
      const { server, signal } = taskServer({ pollIntervalMs: 20 })
      const sent: string[] = []
      const client = await connected(server, { revision, onWire: ({ from, json }) => void (from === 'client' && sent.push(json)) })
      const controller = new AbortController()
      const called = client.call('only', {}, { signal: controller.signal })
      await until(() => signal() !== undefined && sent.some((json) => json.includes('tasks/get')))
      const reason = new Error('enough')
      controller.abort(reason)
      await expect(called).rejects.toBe(reason)
      await until(() => signal().aborted)
      const messages = sent.map((json) => JSON.parse(json))
      const { id } = messages.find(({ method }) => method === 'tools/call')
      const cancelled = messages.filter(({ method }) => method === 'notifications/cancelled')
      expect(cancelled.map(({ params }) => params.requestId)).not.toContain(id)
      const task = await client.callTask('work', {}, { signal: AbortSignal.timeout(100) })
      await expect(task.result()).rejects.toMatchObject({ name: 'TimeoutError' })
      await until(() => sent.filter((json) => json.includes('tasks/cancel')).length === 2)
    })

    test('a tool that reports an error gives a result, and a protocol error rejects', async () => {
      proves('R-TASK-070')
      const first = taskServer({ pollIntervalMs: 20 })
      const one = (await connected(first.server, { revision })).call('only')
      first.go.open(new ToolError('no luck'))
      expect(await one).toMatchObject({ isError: true, content: [{ text: 'no luck' }] })
      const second = taskServer({ pollIntervalMs: 20 })
      const two = (await connected(second.server, { revision })).call('only')
      second.go.open(new McpError('ERR_INVALID_PARAMS', 'bad input'))
      await expect(two).rejects.toMatchObject({ name: 'RemoteError', code: -32602, message: 'bad input' })
    })

    test('the result of a task is checked against the output schema of its tool', async () => {
      const { server } = taskServer({ pollIntervalMs: 20 })
      server.tool('typed', { task: 'required', output: z.object({ sum: z.number() }) }, () => ({ sum: 5 }))
      const client = await connected(server, { revision })
      expect((await client.call<{ sum: number }>('typed')).structuredContent?.sum).toBe(5)
      const task = await client.callTask<{ sum: number }>('typed')
      expect((await task.result()).structuredContent?.sum).toBe(5)
      const resumed = await client.resumeTask<{ sum: number }>(task.id as string, { tool: 'typed' })
      expect((await resumed.result()).structuredContent?.sum).toBe(5)
      const scriptedWorld = await scripted(revision, {
        'tools/list': {
          tools: [
            {
              name: 'x',
              inputSchema: { type: 'object' },
              outputSchema: { type: 'object', required: ['a'] },
              execution: { taskSupport: 'required' },
            },
          ],
        },
        'tasks/get': taskIn(revision, { status: 'completed', result: { ...DONE, structuredContent: {} } }),
        'tasks/result': { ...DONE, structuredContent: {} },
      })
      const wrong = scriptedWorld.client.call('x').catch((error: unknown) => error)
      await pass(scriptedWorld, 1000)
      expect(await wrong).toMatchObject({ code: 'ERR_ANSWER_INVALID' })
    })

    test('a new client resumes a task over HTTP, with the questions that it asks', async () => {
      proves('R-TASK-101', 'R-TASK-124')
      const { server } = taskServer({ pollIntervalMs: 20 })
      const { url } = await serve(server, { authenticate: byHeader })
      const http = { headers: { 'x-user': 'ann' } }
      const first = await connect(url, { http, revisions: [revision] })
      const { id } = await first.callTask('ask')
      await first.close()
      const second = await connect(url, {
        http,
        revisions: [revision],
        answer: { elicit: () => ({ action: 'accept', content: { name: 'Ann' } }) },
      })
      onTestFinished(() => second.close())
      // The first client cannot answer, so the question has waited.
      expect((await (await second.resumeTask(id as string)).result()).content).toEqual([{ type: 'text', text: 'Hello, Ann' }])
      const task = await second.callTask('ask')
      task.leave()
      await expect(task.result()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
      const resumed = await second.resumeTask(task.id as string)
      expect((await resumed.result()).content).toEqual([{ type: 'text', text: 'Hello, Ann' }])
      const other = await connect(url, { http: { headers: { 'x-user': 'bob' } }, revisions: [revision] })
      onTestFinished(() => other.close())
      await expect(other.resumeTask(task.id as string)).rejects.toMatchObject({ code: -32602 })
    })

    test('closing the client ends what it follows, and the task goes on', async () => {
      const { server, signal } = taskServer({ pollIntervalMs: 20 })
      const client = await connected(server, { revision })
      const task = await client.callTask('only')
      await until(() => signal() !== undefined)
      await client.close()
      await expect(task.result()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
      expect(signal().aborted).toBe(false)
    })

    test('a server without tasks cannot resume any', async () => {
      const server = createServer({ name: 'plain', version: '1' })
      server.tool('plain', {}, () => 'plain')
      const client = await connected(server, { revision })
      await expect(client.resumeTask('x')).rejects.toMatchObject({ code: 'ERR_CAPABILITY_MISSING' })
      expect((await (await client.callTask('plain')).result()).content).toEqual([{ type: 'text', text: 'plain' }])
    })

    test('a handle of a call without a task is completed', async () => {
      const client = await connected(taskServer().server, { revision })
      const task = await client.callTask('plain')
      expect(task).toMatchObject({ id: undefined, status: 'completed' })
      expect((await task.result()).content).toEqual([{ type: 'text', text: 'plain' }])
    })
  })

test('tasks are listed where the revision can', async () => {
  proves('R-TASK-056', 'R-TASK-058')
  const { server } = taskServer()
  const client = await connected(server, { revision: '2025-11-25' })
  const { id } = await client.callTask('work')
  expect(await client.tasks().all()).toMatchObject([{ id, status: 'working' }])
  const newer = await connected(server, { revision: '2026-07-28' })
  await expect(newer.tasks().all()).rejects.toMatchObject({ code: 'ERR_CAPABILITY_MISSING' })
})

test('progress of a task in a session reaches the handle and the callback, after the call was answered', async () => {
  const { server } = taskServer({ pollIntervalMs: 20 })
  server.tool('steps', { task: 'required' }, async (_args, ctx) => {
    for (let i = 1; i <= 3; i++) {
      await ctx.progress(i, 3, `Step ${i}`)
      await settle()
    }
    return 'done'
  })
  const client = await connected(server, { revision: '2025-11-25' })
  const seen: Progress[] = []
  const task = await client.callTask('steps', {}, { onProgress: (progress) => void seen.push(progress) })
  await task.result()
  expect(seen).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `Step ${progress}` })))
  expect(task.progress).toEqual({ progress: 3, total: 3, message: 'Step 3' })
})

test('status messages are the progress of a task of the extension', async () => {
  proves('R-TASK-093')
  const { server, go } = taskServer({ pollIntervalMs: 20 })
  const seen: Progress[] = []
  server.tool('steps', { task: 'required' }, async (_args, ctx) => {
    await ctx.progress(1, 3, 'One')
    // The client looks now and then, and sees the last message only.
    await until(() => seen.length === 1)
    await ctx.progress(2, 3, 'Two')
    await go.opened
    return 'done'
  })
  const client = await connected(server, { revision: '2026-07-28' })
  const called = client.call('steps', {}, { onProgress: (progress) => void seen.push(progress) })
  await until(() => seen.length === 2)
  go.open('')
  await called
  expect(seen).toEqual([
    { progress: 1, message: 'One' },
    { progress: 2, message: 'Two' },
  ])
})

test('a client of the extension hears of changes, instead of waiting for the next look', async () => {
  proves('R-TASK-121')
  const { server, go } = taskServer({ pollIntervalMs: 60_000 })
  const sent: string[] = []
  const client = await connected(server, {
    revision: '2026-07-28',
    onWire: ({ from, json }) => void (from === 'client' && sent.push(json)),
  })
  const called = client.call('only')
  await until(() => sent.some((json) => json.includes('subscriptions/listen')))
  await settle()
  go.open('done')
  expect((await called).content).toEqual([{ type: 'text', text: 'done' }])
  const listen = sent.map((json) => JSON.parse(json)).find(({ method }) => method === 'subscriptions/listen')
  expect(listen.params.notifications).toEqual({ taskIds: [expect.stringMatching(/^[\w-]{22}$/)] })
  expect(sent.filter((json) => json.includes('tasks/get'))).toHaveLength(1)
})

test('notifications about a task are heard on the stream that is always open', async () => {
  proves('R-TASK-027')
  const { server, go } = taskServer({ pollIntervalMs: 60_000 })
  const { url, handler } = await serve(server, { authenticate: byHeader })
  const client = await connect(url, { http: { headers: { 'x-user': 'ann' } }, revisions: ['2025-11-25'] })
  onTestFinished(() => client.close())
  const task = await client.callTask('only')
  await until(() => handler.counts.streams > 0)
  go.open('done')
  expect((await task.result()).content).toEqual([{ type: 'text', text: 'done' }])
})

describe('in 2025-11-25 a call asks for a task', () => {
  const tool = (taskSupport?: string) => ({
    name: 'x',
    inputSchema: { type: 'object' },
    ...(taskSupport && { execution: { taskSupport } }),
  })

  test.each([
    [undefined, false, false],
    ['forbidden', false, false],
    ['optional', false, true],
    ['required', true, true],
  ])('if the tool says %s', async (taskSupport, isTaskInCall, isTaskInCallTask) => {
    proves('R-TASK-010', 'R-TASK-012', 'R-TASK-013', 'R-TASK-015', 'R-TASK-016')
    const form = '2025-11-25'
    const world = await scripted(form, {
      'tools/list': { tools: [tool(taskSupport)] },
      'tools/call': ({ task }) => (task ? created(form) : DONE),
      'tasks/get': taskIn(form, { status: 'completed' }),
      'tasks/result': DONE,
    })
    const called = world.client.call('x')
    await pass(world, 500)
    expect(await called).toMatchObject(DONE)
    const task = await world.client.callTask('x', {}, { ttlMs: 5000 })
    await pass(world, 500)
    expect(await task.result()).toMatchObject(DONE)
    expect(world.sent('tools/call').map((params) => params.task)).toEqual([
      isTaskInCall ? {} : undefined,
      isTaskInCallTask ? { ttl: 5000 } : undefined,
    ])
  })

  test('never if the server did not declare it, or the client has tasks switched off', async () => {
    proves('R-TASK-005', 'R-TASK-009')
    for (const [capabilities, tasks] of [
      [{}, true],
      [{ tasks: { list: {}, requests: {} } }, true],
      [{ tasks: { requests: { tools: { call: {} } } } }, false],
    ] as const) {
      const server = cannedServer({
        capabilities: { tools: {}, ...capabilities },
        results: { 'tools/list': { tools: [tool('required')] }, 'tools/call': DONE },
      })
      const client = await Client.connect(server.target, { tasks })
      await client.tools().all()
      await client.call('x')
      await client.callTask('x')
      const sent = server.received.filter(({ method }) => method === 'tools/call')
      expect(sent.map(({ params }) => params.task)).toEqual([undefined, undefined])
      await client.close()
    }
  })

  test('and takes a result that the server gives instead', async () => {
    const world = await scripted('2025-11-25', { 'tools/call': DONE })
    expect(await world.client.call('x')).toMatchObject(DONE)
    expect(await world.client.callTask('x')).toMatchObject({ id: undefined, status: 'completed' })
  })
})
