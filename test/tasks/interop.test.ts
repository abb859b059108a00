import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { byHeader, serve } from '../support/http-service.ts'
import { taskServer } from './task-server.ts'

/** The client of the official SDK, which has the tasks of 2025-11-25. */
async function officialClient(url: string): Promise<Client> {
  const client = new Client({ name: 'official', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ann' } }))
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { 'x-user': 'ann' } } })
  await client.connect(transport as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
  return client
}

test('the official client runs a tool as a task, gets its status and its result, and lists it', async () => {
  const { server, go } = taskServer({ pollIntervalMs: 20 })
  const { url } = await serve(server, { authenticate: byHeader })
  const client = await officialClient(url)
  const kinds: string[] = []
  let taskId = ''
  let text: unknown
  await client.listTools()
  for await (const message of client.experimental.tasks.callToolStream({ name: 'only', arguments: {} }, CallToolResultSchema)) {
    kinds.push(message.type)
    if (message.type === 'taskCreated') {
      taskId = message.task.taskId
      expect((await client.experimental.tasks.getTask(taskId)).status).toBe('working')
      go.open('done')
    }
    if (message.type === 'result') text = message.result.content
  }
  expect(kinds[0]).toBe('taskCreated')
  expect(kinds.at(-1)).toBe('result')
  expect(text).toEqual([{ type: 'text', text: 'done' }])
  const { tasks } = await client.experimental.tasks.listTasks()
  expect(tasks.map((task) => [task.taskId, task.status])).toEqual([[taskId, 'completed']])
}, 30_000)

test('the official client answers the questions of a task', async () => {
  const { server } = taskServer({ pollIntervalMs: 20 })
  const { url } = await serve(server, { authenticate: byHeader })
  const client = await officialClient(url)
  await client.listTools()
  const messages = []
  for await (const message of client.experimental.tasks.callToolStream({ name: 'ask', arguments: {} }, CallToolResultSchema))
    messages.push(message)
  const last = messages.at(-1)
  expect(last?.type === 'result' && last.result.content).toEqual([{ type: 'text', text: 'Hello, Ann' }])
}, 30_000)

test('the official client cancels a task', async () => {
  const { server, signal } = taskServer({ pollIntervalMs: 20 })
  const { url } = await serve(server, { authenticate: byHeader })
  const client = await officialClient(url)
  await client.listTools()
  for await (const message of client.experimental.tasks.callToolStream({ name: 'only', arguments: {} }, CallToolResultSchema)) {
    if (message.type !== 'taskCreated') continue
    expect((await client.experimental.tasks.cancelTask(message.task.taskId)).status).toBe('cancelled')
    expect(signal().aborted).toBe(true)
  }
}, 30_000)
