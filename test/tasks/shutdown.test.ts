/** What happens to running tasks when a transport shuts down. */

import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { serveStdio } from '../../src/stdio/index.ts'
import { memoryTaskStore, type TaskStore } from '../../src/tasks/index.ts'
import { serve, until } from '../support/http-service.ts'
import { extensionClient, type TaskServer, taskServer } from './task-server.ts'

/** So long that nothing is taken over without being handed over. */
const LEASE_MS = 60_000

/** A server with a tool `again` that can be restarted, and that runs as long as its signal lets it. */
function restarting(store: TaskStore) {
  const made = taskServer({ store, leaseMs: LEASE_MS })
  const signals: AbortSignal[] = []
  made.server.tool('again', { task: 'required', restartable: true }, (_args, ctx) => {
    signals.push(ctx.signal)
    return new Promise<string>(() => {})
  })
  return { ...made, client: extensionClient(made.server), signals }
}

const shared = (): TaskStore => ({ ...memoryTaskStore(), isShared: true, lookMs: 10 })

const isOver = async (closing: Promise<unknown>, ms = 50): Promise<boolean> =>
  Promise.race([closing.then(() => true), new Promise<boolean>((resolve) => setTimeout(resolve, ms, false))])

/** Starts a task of a tool, and returns its id when the handler runs. */
async function begin({ client, signal }: { client: ReturnType<typeof extensionClient> } & Pick<TaskServer, 'signal'>): Promise<string> {
  const { taskId } = (await client.call('work')).result
  await until(() => signal() !== undefined)
  return taskId
}

test.each([
  ['in a shared store', shared],
  ['in memory', memoryTaskStore],
])('close() of listen waits for a task %s that nobody else can continue', async (_where, storeOf) => {
  const store = storeOf()
  const made = restarting(store)
  const { close, handler } = await serve(made.server, { graceMs: 20_000 })
  const taskId = await begin(made)
  expect(handler.counts.tasks).toBe(1)
  const closing = close()
  expect(await isOver(closing)).toBe(false)
  made.go.open('done')
  await closing
  expect(handler.counts.tasks).toBe(0)
  expect((await made.client.get(taskId)).result.content[0].text).toBe('done')
})

test('close() of listen waits for tasks until graceMs is over', async () => {
  const made = restarting(shared())
  const { close } = await serve(made.server, { graceMs: 200 })
  await begin(made)
  const closing = close()
  expect(await isOver(closing)).toBe(false)
  await closing
  expect(made.signal().aborted).toBe(false)
})

test('a task without a shared store is waited for, although its tool is restartable', async () => {
  const made = restarting(memoryTaskStore())
  const { close, handler } = await serve(made.server, { graceMs: 200 })
  await made.client.call('again')
  await until(() => made.signals.length === 1)
  expect(handler.counts.tasks).toBe(1)
  const closing = close()
  expect(await isOver(closing)).toBe(false)
  await closing
  expect(made.signals[0]?.aborted).toBe(false)
})

test('close() of listen hands restartable tasks over at once, and takes none over', async () => {
  const store = shared()
  const [first, second] = [restarting(store), restarting(store)]
  const { close, handler } = await serve(first.server, { graceMs: 20_000 })
  const held = await begin(first)
  const { taskId } = (await first.client.call('again')).result
  await until(() => first.signals.length === 1)
  await second.client.get(taskId)
  expect(handler.counts.tasks).toBe(1)
  const closing = close()
  await until(() => second.signals.length === 1)
  expect(first.signals.map(({ aborted }) => aborted)).toEqual([true])
  await second.server.close()
  // It lies there for the next process. This one still runs the other task.
  expect(await isOver(closing)).toBe(false)
  expect(first.signals).toHaveLength(1)
  first.go.open('done')
  await closing
  expect((await first.client.get(held)).status).toBe('completed')
  // The next transport of this server brings it to life again.
  await serve(first.server)
  await until(() => first.signals.length === 2)
  await first.server.close()
})

test('tasks go on while another transport serves them', async () => {
  const made = restarting(shared())
  const [one, other] = [await serve(made.server, { graceMs: 20_000 }), await serve(made.server, { graceMs: 100 })]
  await begin(made)
  await made.client.call('again')
  await until(() => made.signals.length === 1)
  await one.close()
  expect(made.signals[0]?.aborted).toBe(false)
  // Without a drain.
  await other.handler.close()
  expect(made.signals[0]?.aborted).toBe(true)
})

test('a server on streams waits for a task within graceMs, and hands restartable ones over', async () => {
  const made = restarting(shared())
  const serving = serveStdio(made.server, { graceMs: 20_000, streams: { input: new PassThrough(), output: new PassThrough() } })
  const taskId = await begin(made)
  await made.client.call('again')
  await until(() => made.signals.length === 1)
  const closing = serving.close()
  await until(() => made.signals[0]?.aborted === true)
  expect(await isOver(closing)).toBe(false)
  made.go.open('done')
  await closing
  expect((await made.client.get(taskId)).status).toBe('completed')
})
