/** Our client and the task tools of the reference server everything, which is made with the experimental tasks of the official SDK. */

import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, connect } from '../../src/index.ts'
import { proves } from '../support/proves.ts'

const program = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url))

let client: Client
beforeAll(async () => {
  client = await connect(
    { command: process.execPath, args: [program, 'stdio'], shutdownMs: 300 },
    {
      answer: {
        elicit: ({ schema }) => {
          const answers: Record<string, string> = { interpretation: 'snake', name: 'Ann' }
          const content = Object.entries(answers).filter(([name]) => name in schema.properties)
          return { action: 'accept', content: Object.fromEntries(content) }
        },
        sample: () => ({ role: 'assistant', content: { type: 'text', text: 'sampled' }, model: 'm' }),
      },
    },
  )
}, 30_000)
afterAll(() => client?.close())

const textOf = ({ content }: { content: readonly { type: string; text?: string }[] }): string => content[0]?.text ?? ''

test('a call of a tool that runs only as a task returns its result', async () => {
  proves('R-TASK-013')
  const messages: unknown[] = []
  const task = await client.callTask('simulate-research-query', { topic: 'rivers' })
  for await (const { status, statusMessage } of task) messages.push(statusMessage ?? status)
  expect(messages).toContain('Gathering sources...')
  expect(textOf(await task.result())).toContain('Research Report: rivers')
  expect((await client.tasks().all()).map(({ id, status }) => [id, status])).toContainEqual([task.id, 'completed'])
  const resumed = await client.resumeTask(task.id as string)
  expect(textOf(await resumed.result())).toContain('Research Report: rivers')
}, 30_000)

test('the questions of a task are answered', async () => {
  proves('R-TASK-045')
  expect(textOf(await client.call('simulate-research-query', { topic: 'python', ambiguous: true }))).toContain('python (snake)')
}, 30_000)

test('a task is cancelled', async () => {
  const task = await client.callTask('simulate-research-query', { topic: 'seas' })
  await task.cancel()
  expect(task.status).toBe('cancelled')
  await expect(task.result()).rejects.toMatchObject({ code: 'ERR_CANCELLED' })
}, 30_000)

test('the server runs sampling and a form as tasks of our client', async () => {
  proves('R-TASK-005', 'R-TASK-021')
  const sampled = textOf(await client.call('trigger-sampling-request-async', { prompt: 'x' }))
  expect(sampled).toContain('[COMPLETED]')
  expect(sampled).toContain('sampled')
  const filled = textOf(await client.call('trigger-elicitation-request-async'))
  expect(filled).toContain('[COMPLETED]')
}, 30_000)
