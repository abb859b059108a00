import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { sharedMemoryTasks } from '../../src/store/memory/shared-tasks.ts'
import { memoryTaskStore, type TaskStore } from '../../src/tasks/index.ts'
import { gate } from '../support/http-service.ts'
import { settle } from '../support/raw-channel.ts'
import { until } from '../support/until.ts'
import { extensionClient, sessionClient, taskServer } from './task-server.ts'

const name = (text: string) => ({ name: { action: 'accept', content: { name: text } } })

/** A process of a server whose tool asks for a name, after some work. */
function processOf(store: TaskStore, message = 'Name?') {
  const { server } = taskServer({ store })
  const work = gate<void>()
  let fault: unknown
  server.tool('hello', { task: 'required', restartable: true }, async (_args, ctx) => {
    await work.opened
    const answer = await ctx.elicit('name', message, z.object({ name: z.string() })).catch((error: unknown) => {
      fault = error
      throw error
    })
    return `Hello, ${answer.name}`
  })
  onTestFinished(() => server.close())
  return { server, work, fault: () => fault }
}

describe('a task that is started again while it asks', () => {
  async function restarted(message?: string) {
    const store = { ...memoryTaskStore(), isShared: true }
    const before = processOf(store)
    before.work.open()
    const client = extensionClient(before.server)
    const { taskId } = (await client.call('hello')).result
    await client.reach(taskId, 'input_required')
    await before.server.close()
    return { taskId, ...processOf(store, message) }
  }

  test('shows its question all the time, and takes an answer that comes before it asks again', async () => {
    const { taskId, server, work } = await restarted()
    const client = extensionClient(server)
    const shown = await client.get(taskId)
    expect(shown).toMatchObject({ status: 'input_required', inputRequests: { name: {} } })
    const bad = await client.request('tasks/update', { taskId, inputResponses: { name: { action: 'maybe' } } })
    expect(bad.error).toMatchObject({ code: -32602 })
    expect((await client.request('tasks/update', { taskId, inputResponses: name('Ann') })).error).toBeUndefined()
    expect((await client.get(taskId)).status).toBe('working')
    // The first answer counts.
    await client.request('tasks/update', { taskId, inputResponses: name('Bob') })
    work.open()
    expect((await client.reach(taskId, 'completed')).result.content[0].text).toBe('Hello, Ann')
  })

  test('takes an answer after it asked again', async () => {
    const { taskId, server, work } = await restarted()
    const client = extensionClient(server)
    work.open()
    await settle()
    await client.request('tasks/update', { taskId, inputResponses: name('Ann') })
    expect((await client.reach(taskId, 'completed')).result.content[0].text).toBe('Hello, Ann')
  })

  test('does not take an answer to another question than the one that it asks now', async () => {
    const { taskId, server, work } = await restarted('Another question?')
    const client = extensionClient(server)
    await client.request('tasks/update', { taskId, inputResponses: name('Ann') })
    work.open()
    await settle()
    const { inputRequests } = await client.reach(taskId, 'input_required')
    expect(inputRequests.name.params.message).toBe('Another question?')
    await client.request('tasks/update', { taskId, inputResponses: name('Bob') })
    expect((await client.reach(taskId, 'completed')).result.content[0].text).toBe('Hello, Bob')
  })

  test('hears in a session that the client answered with an error before it asked again', async () => {
    const { taskId, server, work, fault } = await restarted()
    const client = await sessionClient(server)
    const result = client.ask('tasks/result', { taskId })
    const { id } = await client.until(({ method }) => method === 'elicitation/create')
    client.send({ jsonrpc: '2.0', id, error: { code: -1, message: 'No person here' } })
    await settle()
    work.open()
    await until(() => fault() !== undefined)
    expect(fault()).toMatchObject({ code: -1, message: 'No person here' })
    expect((await result).result).toMatchObject({ isError: true })
  })
})

test('an error instead of an answer reaches the handler, also from a process that does not run the task', async () => {
  const store = sharedMemoryTasks(60_000)
  const [runner, other] = [processOf(store), processOf(store)]
  runner.work.open()
  const { taskId } = (await extensionClient(runner.server).call('hello')).result
  const client = await sessionClient(other.server)
  await client.reach(taskId, 'input_required')
  void client.ask('tasks/result', { taskId })
  const { id } = await client.until(({ method }) => method === 'elicitation/create')
  client.send({ jsonrpc: '2.0', id, error: { code: -1, message: 'No person here' } })
  await until(() => runner.fault() !== undefined)
  expect(runner.fault()).toMatchObject({ code: -1, message: 'No person here' })
})
