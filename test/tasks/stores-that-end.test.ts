/** Running tasks whose store is closed or down. */

import { expect, onTestFinished, test, vi } from 'vitest'
import { redis } from '../../src/redis/index.ts'
import { createServer, McpError, type Server } from '../../src/server/index.ts'
import type { SharedStore } from '../../src/store/index.ts'
import { memoryTaskStore, type TaskStore, tasks } from '../../src/tasks/index.ts'
import { askModern, serve, until } from '../support/http-service.ts'
import { startRedis } from '../support/redis-server.ts'
import { storesInMemory } from '../support/replicas.ts'
import { extensionClient, taskServer } from './task-server.ts'

function logLines(): () => string[] {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  return () => log.mock.calls.map(String)
}

const someTime = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A server that writes errors into the log, with a tool that runs until its signal aborts it. */
function loggingServer(store?: TaskStore) {
  const server = createServer({ name: 'tasks', version: '1' })
  server.extend(tasks(store && { store, leaseMs: 60_000 }))
  const signals: AbortSignal[] = []
  for (const restartable of [true, false])
    server.tool(`run_${restartable}`, { task: 'required', restartable }, (_args, ctx) => {
      signals.push(ctx.signal)
      return new Promise<string>((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
    })
  return { server, signals }
}

async function beginBoth(server: Server, signals: readonly AbortSignal[]): Promise<void> {
  const client = extensionClient(server)
  for (const restartable of [true, false]) await client.call(`run_${restartable}`)
  await until(() => signals.length === 2)
}

test('the handlers of tasks end with their store, without a line in the log', async () => {
  const lines = logLines()
  const memory = memoryTaskStore()
  let isClosed = false
  let looks = 0
  const unlessClosed =
    <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (isClosed) throw new McpError('ERR_CLOSED', 'The store is closed')
      return run(...args)
    }
  const store: TaskStore = {
    ...memory,
    isShared: true,
    lookMs: 20,
    replace: unlessClosed(memory.replace),
    renew: unlessClosed(memory.renew),
    neglected: (now) => {
      looks++
      return unlessClosed(memory.neglected)(now)
    },
  }
  const { server, signals } = loggingServer(store)
  await beginBoth(server, signals)
  isClosed = true
  await until(() => signals.every(({ aborted }) => aborted))
  expect(signals.map(({ reason }) => String(reason))).toEqual(Array(2).fill('McpError: The store of the tasks was closed'))
  const looksBefore = looks
  await someTime(100)
  expect([looks, lines()]).toEqual([looksBefore, []])
  await server.close()
})

test('an outcome that a closed store does not take is no line in the log', async () => {
  const lines = logLines()
  const memory = memoryTaskStore()
  const closed = (): Promise<never> => Promise.reject(new McpError('ERR_CLOSED', 'The store is closed'))
  const store = { ...memory, isShared: true, leaseMs: 60_000 }
  const { server, go, signal } = taskServer({ store }, { onError: undefined })
  await extensionClient(server).call('work')
  await until(() => signal() !== undefined)
  Object.assign(store, { replace: closed, read: closed, renew: closed, neglected: closed })
  go.open('done')
  await someTime(50)
  expect(lines()).toEqual([])
  await server.close()
})

test('with close() of listen and of a store in Redis alone, handlers end and nothing is logged', async () => {
  const server = await startRedis()
  onTestFinished(() => server.close())
  const lines = logLines()
  const store = redis(server.url)
  const { server: ours, signals } = loggingServer()
  const { url, close } = await serve(ours, { store })
  // From the first request on the tasks are in the store.
  await askModern(url, { method: 'tools/list' })
  await beginBoth(ours, signals)
  const before = lines().length
  await close()
  await store.close()
  await until(() => signals.every(({ aborted }) => aborted))
  await someTime(1500)
  expect(lines().slice(before)).toEqual([])
})

test('a task that is not over at the end of graceMs fails at once at the other replicas', async () => {
  const [first, second] = storesInMemory(2)
  const [one, other] = [taskServer(), taskServer()]
  const { url, close } = await serve(one.server, { store: first as SharedStore, graceMs: 100 })
  const { url: otherUrl } = await serve(other.server, { store: second as SharedStore })
  await Promise.all([url, otherUrl].map((each) => askModern(each, { method: 'tools/list' })))
  const { taskId } = (await extensionClient(one.server).call('work')).result
  await until(() => one.signal() !== undefined)
  await close()
  expect(one.signal().aborted).toBe(true)
  expect(await extensionClient(other.server).get(taskId)).toMatchObject({
    status: 'failed',
    error: { message: 'The server stopped while the task was running' },
  })
})

test('while Redis is away, tasks and sessions give one line together', async () => {
  const server = await startRedis()
  onTestFinished(() => server.close())
  const lines = logLines()
  const store = redis(server.url, { leaseMs: 5000, timeoutMs: 300 })
  onTestFinished(() => store.close())
  const { server: ours, signals } = loggingServer()
  const { url } = await serve(ours, { store })
  await askModern(url, { method: 'tools/list' })
  await beginBoth(ours, signals)
  const before = lines().length
  await server.stop()
  await until(() => signals.every(({ aborted }) => aborted))
  const said = lines().slice(before)
  expect(said.filter((line) => line.includes('No connection to Redis'))).toHaveLength(1)
  expect(said.filter((line) => line.includes('tasks') || line.includes('\n'))).toEqual([])
}, 30_000)
