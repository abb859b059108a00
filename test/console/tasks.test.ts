/** Tasks through the API of the console. */

import { expect, test } from 'vitest'
import { createServer } from '../../src/server/index.ts'
import { tasks } from '../../src/tasks/index.ts'
import { gate } from '../support/http-service.ts'
import { consoles, event, Page } from './pages.ts'

const opened = consoles()

const YES = { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] } as const

/** A console whose host has a server with long jobs. */
async function withJobs() {
  const jobs = createServer({ name: 'jobs', version: '1' })
  jobs.extend(tasks({ pollIntervalMs: 20 }))
  const go = gate<string>()
  jobs.tool('build', { task: 'optional', taskAfterMs: 0, input: { type: 'object' } as const }, () => go.opened)
  jobs.tool('ask', { task: 'required' }, async (_args, ctx) => {
    const { sure } = await ctx.elicit('sure', 'Sure?', YES)
    return `sure: ${String(sure)}`
  })
  const { console, host } = await opened()
  const transport = { type: 'memory' as const, service: jobs }
  await host.configure([...host.specs(), { id: 'jobs', tier: 'trusted', provenance: [], transport }])
  await host.settled()
  return { page: await Page.open(console), go, host }
}

test('a task is started, listed, and has its result when it has ended', async () => {
  const { page, go } = await withJobs()
  const { tools } = await page.get('GET /api/tools')
  const named = (name: string) => tools.find(({ exposed }: { exposed: string }) => exposed === name)
  expect(named('jobs__build')).toMatchObject({ mayBeTask: true })
  expect(named('notes__list')).toMatchObject({ mayBeTask: false })
  const events = await page.events()
  const { result } = await page.run('POST /api/tasks', { tool: 'jobs__build', args: { target: 'web' } })
  expect((await page.get('GET /api/tasks')).tasks).toMatchObject([
    {
      id: result.id,
      server: 'jobs',
      tool: 'build',
      status: 'working',
      chain: ['you'],
      followed: 'here',
      args: { preview: { target: 'web' } },
    },
  ])
  go.open('built')
  await event(events, 'task', ({ id, status }) => id === result.id && status === 'completed')
  const { task } = await page.get(`GET /api/tasks/${result.id}`)
  expect(task).toMatchObject({ status: 'completed', result: { content: [{ type: 'text', text: 'built' }] } })
  // Results can be large, so lists do not have them.
  expect((await page.get('GET /api/tasks')).tasks[0]).not.toHaveProperty('result')
})

test('a question of a task names it, and its answer continues the task', async () => {
  const { page } = await withJobs()
  const { result } = await page.run('POST /api/tasks', { tool: 'jobs__ask' })
  const waiting = async () => (await page.get('GET /api/questions')).questions
  await expect.poll(async () => (await waiting()).length).toBe(1)
  const [{ question }] = await waiting()
  expect(question.task).toEqual({ id: result.id, tool: 'ask' })
  await page.get(`POST /api/questions/${question.id}/answer`, { kind: 'allow', scope: 'once', edited: { sure: true } })
  await expect.poll(async () => (await page.get(`GET /api/tasks/${result.id}`)).task.result?.content[0].text).toBe('sure: true')
})

test('a task is cancelled, and an unknown one is not found', async () => {
  const { page } = await withJobs()
  const { result } = await page.run('POST /api/tasks', { tool: 'jobs__build' })
  await page.get(`DELETE /api/tasks/${result.id}`)
  await expect.poll(async () => (await page.get(`GET /api/tasks/${result.id}`)).task.status).toBe('cancelled')
  expect(await page.fails('GET /api/tasks/nothing')).toMatchObject({ status: 404 })
  expect(await page.fails('DELETE /api/tasks/nothing')).toMatchObject({ status: 404 })
})
