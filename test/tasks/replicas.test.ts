/** Tasks that several replicas share, with no setting but the store. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { randomId } from '../../src/base/bytes.ts'
import type { SharedStore } from '../../src/store/index.ts'
import { httpStream } from '../support/http-requests.ts'
import { askModern, byHeader, callTool, type HttpSession, modern, openSession, sessionAt, until } from '../support/http-service.ts'
import { envelope, type Message } from '../support/raw-channel.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { serveReplicas, storesInMemory } from '../support/replicas.ts'
import { storeLine } from '../support/store-line.ts'
import { storesInRedis } from '../support/stores-in-redis.ts'
import { ABLE, type TaskServer, taskServer } from './task-server.ts'

const server = redisOfFile()
const ADA = { 'x-user': 'ada' }
const BOB = { 'x-user': 'bob' }
const YES = { action: 'accept', content: { go: true } }
const LEASE_MS = 1500

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['another process, as workers use it', async (count) => storesInMemory(count).map((each) => storeLine(each).store)],
  ['Redis', storesInRedis(server)],
]

const at = (url: string | undefined, { id, headers }: HttpSession): HttpSession => sessionAt(url as string, id, headers)

/** A request of a client with the extension. */
async function extension(
  url: string | undefined,
  method: string,
  params: Message,
  headers: Record<string, string> = ADA,
): Promise<Message> {
  const named: Record<string, string> = params.taskId ? { 'mcp-name': params.taskId as string } : {}
  const asked = { method, params: { ...params, _meta: envelope(ABLE) } }
  const { text } = await askModern(url as string, asked, { ...named, ...headers })
  return JSON.parse(text) as Message
}

/** A request in a session, at one of the replicas. */
async function requested(url: string | undefined, session: HttpSession, method: string, params: Message = {}): Promise<Message> {
  const { text } = await at(url, session).ask({ method, params, id: randomId() })
  return JSON.parse(text.startsWith('{') ? text : (text.split('data: ').at(-1) as string)) as Message
}

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  async function replicas() {
    const made: TaskServer[] = []
    const define = () => {
      const each = taskServer()
      made.push(each)
      return each.server
    }
    const served = await serveReplicas(define, { count: 3, stores: await storesOf(3), authenticate: byHeader })
    return { ...served, made }
  }

  test('a task of the extension is read, answered, cancelled and heard of at every replica', async () => {
    const { urls, made } = await replicas()
    const [a, b, c] = urls
    const { taskId } = (await extension(a, 'tools/call', { name: 'work', arguments: {} })).result
    expect((await extension(b, 'tasks/get', { taskId })).result.status).toBe('working')
    expect((await extension(b, 'tasks/get', { taskId }, BOB)).error).toMatchObject({ code: -32602 })
    const listen = { method: 'subscriptions/listen', params: { notifications: { taskIds: [taskId] }, _meta: envelope(ABLE) } }
    const stream = await httpStream(c as string, modern(listen, ADA))
    expect(await stream.message()).toMatchObject({ params: { notifications: { taskIds: [taskId] } } })
    await until(() => made[0]?.signal() !== undefined)
    expect((await extension(b, 'tasks/cancel', { taskId })).error).toBeUndefined()
    await until(() => made[0]?.signal().aborted === true)
    expect(await stream.message()).toMatchObject({ method: 'notifications/tasks', params: { taskId, status: 'cancelled' } })
    stream.destroy()
    const asking = (await extension(a, 'tools/call', { name: 'ask', arguments: {} })).result.taskId
    await until(async () => (await extension(c, 'tasks/get', { taskId: asking })).result.status === 'input_required')
    const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } }
    expect((await extension(b, 'tasks/update', { taskId: asking, inputResponses })).error).toBeUndefined()
    await until(async () => (await extension(c, 'tasks/get', { taskId: asking })).result.status === 'completed')
    expect((await extension(c, 'tasks/get', { taskId: asking })).result.result.content).toMatchObject([{ text: 'Hello, Ada' }])
  })

  test('a task of a session is listed, awaited and cancelled at every replica, and its status is told once', async () => {
    const { urls, made } = await replicas()
    const [a, b, c] = urls
    const session = await openSession(a as string, '2025-11-25', { headers: ADA, capabilities: ABLE })
    const notices = await at(c, session).listen()
    const create = async (url: string | undefined, name: string): Promise<string> =>
      (await requested(url, session, 'tools/call', { name, arguments: {}, task: {} })).result.task.taskId
    const taskId = await create(a, 'work')
    expect((await requested(b, session, 'tasks/get', { taskId })).result).toMatchObject({ taskId, status: 'working' })
    expect((await requested(c, session, 'tasks/list')).result.tasks).toMatchObject([{ taskId }])
    const result = requested(b, session, 'tasks/result', { taskId })
    made[0]?.go.open('done')
    expect((await result).result.content).toMatchObject([{ text: 'done' }])
    expect(await notices.message()).toMatchObject({ method: 'notifications/tasks/status', params: { taskId, status: 'completed' } })
    const other = await create(b, 'work')
    await until(() => made[1]?.signal() !== undefined)
    expect((await requested(c, session, 'tasks/cancel', { taskId: other })).result.status).toBe('cancelled')
    await until(() => made[1]?.signal().aborted === true)
    expect(await notices.message()).toMatchObject({ params: { taskId: other, status: 'cancelled' } })
    notices.destroy()
  })

  test('the tasks of a caller are counted at all replicas together', async () => {
    const define = () => taskServer({ limits: { maxTasksPerCaller: 2 } }).server
    const { urls } = await serveReplicas(define, { count: 2, stores: await storesOf(2), authenticate: byHeader })
    const create = (replica: number, headers = ADA) => extension(urls[replica], 'tools/call', { name: 'work', arguments: {} }, headers)
    expect([(await create(0)).error, (await create(1)).error]).toEqual([undefined, undefined])
    expect((await create(0)).error).toMatchObject({ data: { limit: 'maxTasksPerCaller', max: 2 } })
    expect((await create(1, BOB)).error).toBeUndefined()
  })

  test('all sessions of one address without authentication share one limit of tasks', async () => {
    const define = () => taskServer({ limits: { maxTasksPerCaller: 2 } }).server
    const { urls } = await serveReplicas(define, { count: 2, stores: await storesOf(2) })
    const create = async (replica: number) => {
      const session = await openSession(urls[replica] as string, '2025-11-25')
      return requested(urls[replica], session, 'tools/call', { name: 'work', arguments: {}, task: {} })
    }
    expect([(await create(0)).error, (await create(1)).error]).toEqual([undefined, undefined])
    expect((await create(0)).error).toMatchObject({ data: { limit: 'maxTasksPerCaller', max: 2 } })
  })
})

/** Replicas in processes of their own. */
async function startProcesses(count: number) {
  const { url } = await server()
  const prefix = `${randomId()}:`
  const program = fileURLToPath(new URL('../http/server/shared/fixtures/replica.mjs', import.meta.url))
  return Promise.all(
    Array.from({ length: count }, async () => {
      const child = spawn(process.execPath, [program, url, prefix, String(LEASE_MS)], { stdio: ['ignore', 'pipe', 'inherit'] })
      onTestFinished(() => void child.kill('SIGKILL'))
      const [address] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
      return { child, url: address }
    }),
  )
}

test.each(['2025-11-25', '2026-07-28'])(
  'in %s a task of a killed replica fails with a reason, or runs again elsewhere',
  async (version) => {
    const [first, second] = (await startProcesses(2)) as [
      Awaited<ReturnType<typeof startProcesses>>[0],
      Awaited<ReturnType<typeof startProcesses>>[0],
    ]
    const isSession = version === '2025-11-25'
    const session = isSession ? await openSession(first.url, version, { capabilities: ABLE }) : undefined
    const create = async (name: string): Promise<string> =>
      session
        ? (await requested(first.url, session, 'tools/call', { name, arguments: {}, task: {} })).result.task.taskId
        : (await extension(first.url, 'tools/call', { name, arguments: {} }, {})).result.taskId
    const read = async (taskId: string): Promise<Message> =>
      (session ? await requested(second.url, session, 'tasks/get', { taskId }) : await extension(second.url, 'tasks/get', { taskId }, {}))
        .result
    const [long, steps] = [await create('long'), await create('steps')]
    await until(async () => (await read(steps)).status === 'input_required')
    const firstPid = first.child.pid
    first.child.kill('SIGKILL')
    const killedAt = performance.now()
    await until(async () => (await read(long)).status === 'failed')
    expect(performance.now() - killedAt).toBeLessThan(LEASE_MS + 2000)
    const failure = {
      code: -32603,
      message: 'The server stopped while the task was running',
      data: { reason: 'replica_lost', retryable: true },
    }
    if (session) expect((await requested(second.url, session, 'tasks/result', { taskId: long })).error).toEqual(failure)
    else expect((await read(long)).error).toEqual(failure)
    // The step before the question is not repeated.
    await until(async () => (await read(steps)).status === 'input_required')
    const expected = `${firstPid} ${second.child.pid} true`
    if (session) {
      const stream = await at(second.url, session).askStream({ method: 'tasks/result', params: { taskId: steps }, id: 'r' })
      const question = await stream.message()
      expect((await at(second.url, session).post({ jsonrpc: '2.0', id: question.id, result: YES })).status).toBe(202)
      expect((await stream.message()).result).toMatchObject({ content: [{ text: expected }] })
      return
    }
    await extension(second.url, 'tasks/update', { taskId: steps, inputResponses: { go: YES } }, {})
    await until(async () => (await read(steps)).status === 'completed')
    expect((await read(steps)).result.content).toMatchObject([{ text: expected }])
    expect((await askModern(second.url, callTool('hi'))).status).toBe(200)
  },
)
