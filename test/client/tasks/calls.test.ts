import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../../src/client/index.ts'
import type { Server } from '../../../src/server/index.ts'
import { type PairOptions, pair } from '../../../src/testing/index.ts'
import { taskServer } from '../../tasks/task-server.ts'

const FORMS = ['2025-11-25', '2026-07-28']

async function connected(server: Server, options: PairOptions): Promise<Client> {
  const { client, close } = await pair(server, { answer: { elicit: () => ({ action: 'accept', content: { name: 'Ann' } }) }, ...options })
  onTestFinished(close)
  return client
}

for (const revision of FORMS)
  describe(`with tasks of ${revision}`, () => {
    test('a call returns the result of a tool that runs only as a task', async () => {
      const { server, go } = taskServer({ pollIntervalMs: 20 })
      const client = await connected(server, { revision })
      const called = client.call('only')
      setTimeout(() => go.open('done'), 50)
      expect((await called).content).toEqual([{ type: 'text', text: 'done' }])
    })

    test('a call answers the questions of its task', async () => {
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

    test('a handle cancels', async () => {
      const { server, signal } = taskServer({ pollIntervalMs: 20 })
      const client = await connected(server, { revision })
      const task = await client.callTask('work')
      await new Promise((resolve) => setTimeout(resolve, 20))
      await task.cancel()
      expect(signal().aborted).toBe(true)
      expect(task.status).toBe('cancelled')
      await expect(task.result()).rejects.toMatchObject({ code: 'ERR_CANCELLED' })
    })

    test('a handle of a call without a task is completed', async () => {
      const client = await connected(taskServer().server, { revision })
      const task = await client.callTask('plain')
      expect(task).toMatchObject({ id: undefined, status: 'completed' })
      expect((await task.result()).content).toEqual([{ type: 'text', text: 'plain' }])
    })
  })

test('tasks are listed where the revision can', async () => {
  const { server } = taskServer()
  const client = await connected(server, { revision: '2025-11-25' })
  const { id } = await client.callTask('work')
  expect(await client.tasks().all()).toMatchObject([{ id, status: 'working' }])
  const newer = await connected(server, { revision: '2026-07-28' })
  await expect(newer.tasks().all()).rejects.toMatchObject({ code: 'ERR_CAPABILITY_MISSING' })
})
