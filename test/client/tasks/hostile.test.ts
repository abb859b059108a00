import { describe, expect, test } from 'vitest'
import { McpError } from '../../../src/client/index.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'
import { created, DONE, FORMS, pass, scripted, taskIn } from './scripted-tasks.ts'

const INVALID = 'ERR_ANSWER_INVALID'
const ask = { method: 'elicitation/create', params: { message: '?', requestedSchema: { type: 'object', properties: {} } } }
const accept = { elicit: () => ({ action: 'accept' as const, content: {} }) }

/** The outcome of a promise, without waiting for it. */
function watch(promise: Promise<unknown>): { error?: unknown; value?: unknown } {
  const seen: { error?: unknown; value?: unknown } = {}
  promise.then(
    (value) => Object.assign(seen, { value }),
    (error: unknown) => Object.assign(seen, { error }),
  )
  return seen
}

describe.each(FORMS)('a server of %s', (form) => {
  test.each([
    ['no id', { taskId: undefined }, 'has no taskId'],
    ['an empty id', { taskId: '' }, 'has no taskId'],
    ['an id that is a number', { taskId: 5 }, 'has no taskId'],
    ['an id of a megabyte', { taskId: 'x'.repeat(1024 * 1024) }, 'has a taskId of 1048576 characters; at most 1024'],
    ['an unknown status', { status: 'resting' }, 'has an unknown status: "resting"'],
    ['no status', { status: undefined }, 'has an unknown status'],
  ])('creates a task with %s: the call fails at once', async (_what, fault, message) => {
    proves('R-TASK-020')
    const { client, sent } = await scripted(form, { 'tools/call': created(form, fault) })
    const failed = { code: INVALID, message: expect.stringContaining(message) }
    await expect(client.call('x')).rejects.toMatchObject(failed)
    await expect(client.callTask('x')).rejects.toMatchObject(failed)
    expect(sent('tasks/get')).toEqual([])
  })

  test('describes another task than it was asked for: the call fails, and its own task is cancelled', async () => {
    const world = await scripted(form, { 'tasks/get': taskIn(form, { taskId: 'other' }) })
    const seen = watch(world.client.call('x'))
    await pass(world, 2000)
    expect(seen.error).toMatchObject({ code: INVALID, message: expect.stringContaining('"other", not "t1"') })
    expect(world.sent('tasks/cancel')).toMatchObject([{ taskId: 't1' }])
  })

  test('wants to be asked all the time or almost never: the pauses are bounded', async () => {
    proves('R-TASK-022', 'R-TASK-098')
    for (const [pollIntervalMs, ms, expected] of [
      [0, 1000, 50],
      [-5, 1000, 50],
      [1e15, 30 * 60_000, 7],
      [500, 5100, 11],
    ] as const) {
      const world = await scripted(form, {
        'tools/call': created(form, { pollIntervalMs }),
        'tasks/get': taskIn(form, { pollIntervalMs }),
      })
      const task = await world.client.callTask('x')
      await pass(world, ms, ms / 1000)
      const count = world.sent('tasks/get').length
      expect(count).toBeGreaterThanOrEqual(expected - 3)
      expect(count).toBeLessThanOrEqual(expected + 3)
      task.leave()
    }
  })

  test.each([
    [-1, undefined],
    [1e300, undefined],
    ['soon', undefined],
    [null, null],
    [0, 0],
  ])('keeps a task for %j ms: a time that is none is not shown', async (ttlMs, shown) => {
    const { client } = await scripted(form, { 'tools/call': created(form, { ttlMs }) })
    const task = await client.callTask('x')
    expect(task.ttlMs).toBe(shown)
    task.leave()
  })

  test('never ends a task: the call fails after the limit, and the task is cancelled', async () => {
    const world = await scripted(form, {}, { limits: { maxTaskMs: 20_000 } })
    const call = watch(world.client.call('x'))
    const short = watch(world.client.call('x', {}, { maxTotalMs: 5000 }))
    await pass(world, 6000)
    expect(short.error).toMatchObject({ code: 'ERR_TIMEOUT', data: { taskId: 't1' } })
    expect(call).toEqual({})
    await pass(world, 16_000)
    expect(call.error).toMatchObject({ code: 'ERR_TIMEOUT', data: { taskId: 't1' } })
    expect(world.sent('tasks/cancel')).toHaveLength(2)
    const polls = world.sent('tasks/get').length
    await pass(world, 10_000)
    expect(world.sent('tasks/get')).toHaveLength(polls)
  })

  test('never ends a task: a handle gives up after the limit, but leaves the task alone', async () => {
    const world = await scripted(form)
    const task = await world.client.callTask('x', {}, { maxTotalMs: 5000 })
    const seen = watch(task.result())
    await pass(world, 6000)
    expect(seen.error).toMatchObject({ code: 'ERR_TIMEOUT' })
    expect(task.status).toBe('working')
    expect(world.sent('tasks/cancel')).toEqual([])
    await expect(
      (async () => {
        for await (const _ of task);
      })(),
    ).rejects.toMatchObject({ code: 'ERR_TIMEOUT' })
  })

  test('changes a task that has ended: the first final status counts', async () => {
    proves('R-TASK-042')
    let polls = 0
    const world = await scripted(form, {
      'tasks/get': () => taskIn(form, ++polls === 1 ? { status: 'completed', result: DONE } : { status: 'working' }),
      'tasks/result': DONE,
    })
    const task = await world.client.callTask('x')
    const seen: string[] = []
    const loop = (async () => {
      for await (const { status } of task) seen.push(status)
    })()
    await pass(world, 1000)
    for (const status of ['working', 'failed', 'cancelled'])
      world.script.send({
        jsonrpc: '2.0',
        method: form === '2025-11-25' ? 'notifications/tasks/status' : 'notifications/tasks',
        params: taskIn(form, { status, lastUpdatedAt: '2027-01-01T00:00:00.000Z' }),
      })
    await pass(world, 5000)
    await loop
    expect(seen).toEqual(['working', 'completed'])
    expect(await task.result()).toMatchObject(DONE)
    expect(task.status).toBe('completed')
    expect(polls).toBe(1)
  })

  test('deletes a task when it is cancelled: it is cancelled all the same', async () => {
    proves('R-TASK-064')
    let isDeleted = false
    const missing = (): never => {
      throw Object.assign(new Error('Task not found'), { code: -32602 })
    }
    for (const isSlow of [false, true]) {
      isDeleted = false
      const world = await scripted(form, {
        'tasks/get': () => (isDeleted ? missing() : taskIn(form)),
        'tasks/cancel': () => {
          isDeleted = true
          if (isSlow) return undefined
          return form === '2025-11-25' ? taskIn(form, { status: 'cancelled' }) : {}
        },
      })
      const task = await world.client.callTask('x')
      void task.cancel().catch(() => {})
      await pass(world, 5000)
      expect(task.status).toBe('cancelled')
      await expect(task.result()).rejects.toMatchObject({ code: 'ERR_CANCELLED' })
    }
  })

  test('sends a result after the task was cancelled: it is ignored', async () => {
    proves('R-TASK-119')
    const world = await scripted(form, {
      'tasks/cancel': form === '2025-11-25' ? taskIn(form, { status: 'cancelled' }) : {},
      'tasks/result': DONE,
    })
    const task = await world.client.callTask('x')
    const cancelling = watch(task.cancel().then(() => 'cancelled'))
    await pass(world, 500)
    expect(cancelling.value).toBe('cancelled')
    world.script.send({
      jsonrpc: '2.0',
      method: form === '2025-11-25' ? 'notifications/tasks/status' : 'notifications/tasks',
      params: taskIn(form, { status: 'completed', result: DONE }),
    })
    await pass(world, 5000)
    expect(task.status).toBe('cancelled')
    await expect(task.result()).rejects.toMatchObject({ code: 'ERR_CANCELLED', data: { taskId: 't1' } })
  })

  test('floods the client with notifications: a slow loop sees the first and the last change', async () => {
    proves('R-TASK-034')
    const world = await scripted(form, { 'tasks/get': taskIn(form, { status: 'completed', result: DONE }), 'tasks/result': DONE })
    const progress: unknown[] = []
    const task = await world.client.callTask('x', {}, { onProgress: (given) => void progress.push(given) })
    const loop = task[Symbol.asyncIterator]()
    expect((await loop.next()).value).toMatchObject({ status: 'working', statusMessage: undefined })
    for (let i = 0; i < 5000; i++)
      world.script.send({
        jsonrpc: '2.0',
        method: form === '2025-11-25' ? 'notifications/tasks/status' : 'notifications/tasks',
        params: taskIn(form, { statusMessage: `${'x'.repeat(3000)}${i}` }),
      })
    for (const params of [{}, { taskId: 't1' }, { taskId: 't2', status: 'failed' }, taskIn(form, { status: 'odd' })])
      world.script.send({ jsonrpc: '2.0', method: 'notifications/tasks/status', params })
    await pass(world, 50)
    expect((await loop.next()).value.statusMessage).toHaveLength(2000)
    await pass(world, 5000)
    expect((await loop.next()).value).toMatchObject({ status: 'completed' })
    expect(await loop.next()).toMatchObject({ done: true })
    expect(progress.length).toBeLessThan(1100)
  })

  test('breaks off again and again: the client asks a few times more and then gives up', async () => {
    let isDown = true
    const world = await scripted(form, {
      'tasks/get': () => (isDown ? undefined : taskIn(form, { status: 'completed', result: DONE })),
      'tasks/result': DONE,
    })
    const call = watch(world.client.call('x', {}, { timeoutMs: 1000 }))
    await pass(world, 8000)
    expect(call).toEqual({})
    isDown = false
    await pass(world, 60_000)
    expect(call.value).toMatchObject(DONE)
    isDown = true
    const before = world.sent('tasks/get').length
    const second = watch(world.client.call('x', {}, { timeoutMs: 1000 }))
    await pass(world, 200_000, 1000)
    expect(second.error).toMatchObject({ code: 'ERR_TIMEOUT' })
    expect(world.sent('tasks/get').length - before).toBe(6)
  })

  test('says that the task does not exist: the call fails with its error', async () => {
    const world = await scripted(form, {
      'tasks/get': () => {
        throw Object.assign(new Error('Task not found'), { code: -32602 })
      },
    })
    const call = watch(world.client.call('x'))
    await pass(world, 2000)
    expect(call.error).toMatchObject({ name: 'RemoteError', code: -32602 })
    expect(world.sent('tasks/cancel')).toEqual([])
    await expect(world.client.resumeTask('t1')).rejects.toMatchObject({ name: 'RemoteError', code: -32602 })
  })
})

describe('a server with the extension', () => {
  const form = '2026-07-28'

  test('asks questions without end: the call fails, and the task is cancelled', async () => {
    let count = 0
    const inputRequests = (): Message => Object.fromEntries(Array.from({ length: 30 }, () => [`q${count++}`, ask]))
    const world = await scripted(
      form,
      { 'tasks/get': () => taskIn(form, { status: 'input_required', inputRequests: inputRequests() }) },
      { answer: accept, limits: { elicitations: false } },
    )
    const call = watch(world.client.call('x'))
    await pass(world, 30_000, 500)
    expect(call.error).toMatchObject({ code: 'ERR_LIMIT', message: 'The task asked more than 320 questions' })
    expect(world.sent('tasks/cancel')).toHaveLength(1)
    expect(world.sent('tasks/update').flatMap(({ inputResponses }) => Object.keys(inputResponses))).toHaveLength(300)
  })

  test('asks too often: the rate of questions to the person holds for tasks, too', async () => {
    proves('R-TASK-108')
    let count = 0
    const world = await scripted(
      form,
      { 'tasks/get': () => taskIn(form, { status: 'input_required', inputRequests: { [`q${count++}`]: ask } }) },
      { answer: accept, limits: { elicitations: { perSecond: 0.001, burst: 3 } } },
    )
    const call = watch(world.client.call('x'))
    await pass(world, 10_000)
    expect(call.error).toMatchObject({ code: 'ERR_RATE_LIMITED' })
    expect(world.sent('tasks/update')).toHaveLength(3)
  })

  test.each([
    ['too many at once', Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`q${i}`, ask])), 'ERR_LIMIT'],
    ['a key of a megabyte', { ['k'.repeat(1024 * 1024)]: ask }, 'ERR_LIMIT'],
    ['a question that is none', { q: 5 }, INVALID],
    ['no questions at all', 5, INVALID],
    ['a method that is no question', { q: { method: 'tools/call', params: {} } }, 'ERR_METHOD_NOT_FOUND'],
    ['a question without a handler', { q: { method: 'sampling/createMessage', params: {} } }, 'ERR_METHOD_NOT_FOUND'],
  ])('asks %s: the call fails, and the task is cancelled', async (_what, inputRequests, code) => {
    const world = await scripted(form, { 'tasks/get': taskIn(form, { status: 'input_required', inputRequests }) }, { answer: accept })
    const call = watch(world.client.call('x'))
    await pass(world, 3000)
    expect(call.error).toMatchObject({ code })
    expect(world.sent('tasks/cancel')).toHaveLength(1)
    expect(world.sent('tasks/update')).toEqual([])
  })

  test('asks something again: it is answered once', async () => {
    proves('R-TASK-113', 'R-TASK-107', 'R-TASK-109', 'R-TASK-111')
    let polls = 0
    const asked: string[] = []
    const world = await scripted(
      form,
      {
        'tasks/get': () => {
          if (++polls > 5) return taskIn(form, { status: 'completed', result: DONE })
          return taskIn(form, { status: 'input_required', inputRequests: { a: ask, ...(polls > 2 && { b: ask }) } })
        },
      },
      {
        answer: {
          elicit: ({ message }) => {
            asked.push(message)
            return { action: 'accept', content: {} }
          },
        },
      },
    )
    const call = watch(world.client.call('x'))
    await pass(world, 10_000)
    expect(call.value).toMatchObject(DONE)
    expect(asked).toHaveLength(2)
    expect(world.sent('tasks/update').map(({ inputResponses }) => Object.keys(inputResponses))).toEqual([['a'], ['b']])
  })

  test('withdraws a question: its handler is told, and no answer is sent', async () => {
    let polls = 0
    let signal: AbortSignal | undefined
    const world = await scripted(
      form,
      {
        'tasks/get': () => {
          if (++polls === 1) return taskIn(form, { status: 'input_required', inputRequests: { a: ask } })
          return taskIn(form, polls === 2 ? { status: 'working' } : { status: 'completed', result: DONE })
        },
      },
      {
        answer: {
          elicit: (_request, asking) => {
            signal = asking.signal
            return new Promise(() => {})
          },
        },
      },
    )
    const call = watch(world.client.call('x'))
    await pass(world, 5000)
    expect(signal?.aborted).toBe(true)
    expect(call.value).toMatchObject(DONE)
    expect(world.sent('tasks/update')).toEqual([])
  })

  test('withdraws one of two questions: the answer to the other is sent, also if the first handler goes on', async () => {
    let polls = 0
    let asked = 0
    const world = await scripted(
      form,
      {
        'tasks/get': () => taskIn(form, { status: 'input_required', inputRequests: ++polls === 1 ? { a: ask, b: ask } : { b: ask } }),
      },
      // The first question is never answered.
      { answer: { elicit: () => (++asked === 1 ? new Promise(() => {}) : accept.elicit()) } },
    )
    const task = await world.client.callTask('x')
    await pass(world, 3000)
    expect(world.sent('tasks/update').map(({ inputResponses }) => Object.keys(inputResponses))).toEqual([['b']])
    task.leave()
  })

  test('is restarted while a question waits: the person is asked again, and the answer is sent once', async () => {
    let polls = 0
    const asked: { signal: AbortSignal; answer: () => void }[] = []
    const world = await scripted(
      form,
      {
        'tasks/get': () => {
          if (++polls === 2) return taskIn(form, { status: 'working' })
          return taskIn(form, { status: 'input_required', inputRequests: { a: ask } })
        },
      },
      {
        answer: {
          elicit: (_request, { signal }) => new Promise((resolve) => asked.push({ signal, answer: () => resolve(accept.elicit()) })),
        },
      },
    )
    const task = await world.client.callTask('x')
    await pass(world, 5000)
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false])
    for (const { answer } of asked) answer()
    await pass(world, 5000)
    expect(world.sent('tasks/update')).toHaveLength(1)
    expect(asked).toHaveLength(2)
    task.leave()
  })

  test('withdraws a question and asks it again, without end: the call fails, and the task is cancelled', async () => {
    let polls = 0
    const world = await scripted(
      form,
      {
        'tasks/get': () => taskIn(form, ++polls % 2 ? { status: 'input_required', inputRequests: { a: ask } } : { status: 'working' }),
      },
      { answer: { elicit: () => new Promise(() => {}) }, limits: { elicitations: false } },
    )
    const call = watch(world.client.call('x'))
    await pass(world, 700_000, 1000)
    expect(call.error).toMatchObject({ code: 'ERR_LIMIT', message: 'The task asked more than 320 questions' })
    expect(world.sent('tasks/cancel')).toHaveLength(1)
  })

  test('refuses an answer: the call fails with its error, and the task is cancelled', async () => {
    const world = await scripted(
      form,
      {
        'tasks/get': taskIn(form, { status: 'input_required', inputRequests: { a: ask } }),
        'tasks/update': () => {
          throw Object.assign(new Error('The answer is invalid'), { code: -32602 })
        },
      },
      { answer: accept },
    )
    const call = watch(world.client.call('x'))
    await pass(world, 3000)
    expect(call.error).toMatchObject({ code: -32602, message: 'The answer is invalid' })
    expect(world.sent('tasks/cancel')).toHaveLength(1)
  })

  test.each([
    ['completed without a result', { status: 'completed' }, { code: INVALID, message: 'The completed task has no result' }],
    ['completed with questions', { status: 'completed', result: { resultType: 'input_required' } }, { code: INVALID }],
    ['completed with another task', { status: 'completed', result: { resultType: 'task', taskId: 't2' } }, { code: INVALID }],
    ['completed with content that is no list', { status: 'completed', result: { content: 5 } }, { code: INVALID }],
    [
      'failed without an error',
      { status: 'failed', statusMessage: 'why' },
      { code: INVALID, message: 'The failed task has no error: why' },
    ],
    [
      'failed with an error',
      { status: 'failed', error: { code: 7, message: 'no', data: 1 } },
      { name: 'RemoteError', code: 7, message: 'no', data: 1 },
    ],
    [
      'cancelled',
      { status: 'cancelled', statusMessage: 'by the owner' },
      { code: 'ERR_CANCELLED', message: 'The task was cancelled: by the owner' },
    ],
  ])('says that the task is %s', async (_what, details, error) => {
    const world = await scripted(form, { 'tasks/get': taskIn(form, details) })
    const call = watch(world.client.call('x'))
    await pass(world, 1000)
    expect(call.error).toMatchObject(error)
    expect(world.sent('tasks/cancel')).toEqual([])
  })

  test('answers a request that cannot become a task with one: the result is invalid', async () => {
    proves('R-TASK-082')
    const { client } = await scripted(form, { 'prompts/get': created(form), 'tools/list': created(form) })
    await expect(client.request('prompts/get', { name: 'x' })).rejects.toMatchObject({ code: 'ERR_CAPABILITY_MISSING' })
    await expect(client.request('tools/list', {})).rejects.toMatchObject({ code: INVALID })
    const { client: without } = await scripted(form, {}, { tasks: false })
    await expect(without.call('x')).rejects.toMatchObject({ code: INVALID, message: expect.stringContaining('has the type "task"') })
  })
})

describe('a server where clients ask for tasks', () => {
  const form = '2025-11-25'

  test('never gives the result of a task that has ended: the call fails after its time', async () => {
    const world = await scripted(form, { 'tasks/get': taskIn(form, { status: 'completed' }) })
    const call = watch(world.client.call('x', {}, { timeoutMs: 1000 }))
    await pass(world, 200_000, 1000)
    expect(call.error).toMatchObject({ code: 'ERR_TIMEOUT' })
  })

  test('refuses to give its questions again and again: the call fails', async () => {
    const world = await scripted(form, {
      'tasks/get': taskIn(form, { status: 'input_required' }),
      'tasks/result': () => {
        throw Object.assign(new Error('not now'), { code: -32603 })
      },
    })
    const call = watch(world.client.call('x'))
    await pass(world, 30_000)
    expect(call.error).toMatchObject({ name: 'RemoteError', message: 'not now' })
    expect(world.sent('tasks/result').length).toBeLessThan(10)
  })

  test('has questions: the client waits for the result, which brings them, and still asks for the status', async () => {
    proves('R-TASK-024', 'R-TASK-045')
    let status = 'input_required'
    const world = await scripted(form, { 'tasks/get': () => taskIn(form, { status }) }, { answer: accept })
    const call = watch(world.client.call('x'))
    await pass(world, 200_000, 1000)
    expect(world.sent('tasks/result')).toHaveLength(1)
    expect(world.sent('tasks/get').length).toBeGreaterThan(100)
    const { id } = world.script.received.find(({ method }) => method === 'tasks/result') as Message
    status = 'completed'
    world.script.send({ jsonrpc: '2.0', id, result: DONE })
    await pass(world, 2000)
    expect(call.value).toMatchObject(DONE)
  })

  test('loses the request for the result every minute: the client makes it again, as long as the task lasts', async () => {
    const world = await scripted(form, {
      'tasks/get': taskIn(form, { status: 'input_required' }),
      'tasks/result': (_params, { id }) => {
        world.clock.after(60_000, () => world.script.lose(id, new McpError('ERR_NETWORK', 'The stream ended')))
        return undefined
      },
    })
    const task = await world.client.callTask('x')
    const outcome = watch(task.result())
    await pass(world, 15 * 60_000, 1000)
    expect(outcome).toEqual({})
    expect(world.sent('tasks/result').length).toBeGreaterThan(10)
    task.leave()
  })

  test('asks in many tasks: the client awaits some of the results, so that other requests find room', async () => {
    let count = 0
    const world = await scripted(form, {
      'tools/call': () => created(form, { taskId: `t${count++}` }),
      'tasks/get': ({ taskId }) => taskIn(form, { taskId, status: 'input_required' }),
    })
    const tasks = []
    for (let i = 0; i < 50; i++) tasks.push(await world.client.callTask('x'))
    await pass(world, 5000)
    expect(world.sent('tasks/result')).toHaveLength(32)
    // Those that are over make room for others.
    for (const task of tasks.slice(0, 45)) task.leave()
    await pass(world, 5000)
    const awaited = new Set(world.sent('tasks/result').map(({ taskId }) => taskId))
    for (const task of tasks.slice(45)) expect(awaited).toContain(task.id)
    for (const task of tasks) task.leave()
  })

  test('asks in many tasks what the client cannot answer: there is room for the questions of others', async () => {
    let count = 0
    const needs = { _meta: { 'dev.portico/neededCapabilities': { sampling: {} } } }
    const world = await scripted(form, {
      'tools/call': () => created(form, { taskId: `t${count++}` }),
      'tasks/get': ({ taskId }) => taskIn(form, { taskId, status: 'input_required', ...(taskId !== 't49' && needs) }),
    })
    const tasks = []
    for (let i = 0; i < 50; i++) tasks.push(await world.client.callTask('x'))
    await pass(world, 5000)
    const awaited = world.sent('tasks/result').map(({ taskId }) => taskId)
    expect(awaited).toHaveLength(17)
    expect(awaited).toContain('t49')
    for (const task of tasks) task.leave()
  })

  test('cannot cancel: the client does not ask it to', async () => {
    const world = await scripted(form)
    Object.assign(world.client.server.capabilities, { tasks: { requests: { tools: { call: {} } } } })
    const task = await world.client.callTask('x')
    await expect(task.cancel()).rejects.toMatchObject({ code: 'ERR_CAPABILITY_MISSING' })
    expect(world.sent('tasks/cancel')).toEqual([])
    task.leave()
    await expect(task.result()).rejects.toMatchObject({ code: 'ERR_CLOSED', data: { taskId: 't1' } })
  })
})
