/** Calls of a host that run as tasks, with servers in this process. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readAudit } from '../../../src/host/index.ts'
import { STORAGE_PATHS } from '../../../src/host/setup/open-storage.ts'
import { type Context, createServer, type ServerOptions } from '../../../src/server/index.ts'
import { tasks } from '../../../src/tasks/index.ts'
import { proves } from '../../support/proves.ts'
import { type TaskServer, taskServer } from '../../tasks/task-server.ts'
import { hosts, NO, person, textOf, until } from '../hosts.ts'

const { host: newHost, folder: newFolder } = hosts()
const PERSON = { as: 'person' } as const

async function auditOf(folder: string, action = 'tool.call'): Promise<{ intents: number[]; outcomes: unknown[] }> {
  const intents: number[] = []
  const outcomes: unknown[] = []
  for await (const record of readAudit(join(folder, STORAGE_PATHS.audit))) {
    if (record.kind === 'intent' && record.entry.action === action) intents.push(record.seq)
    if (record.kind === 'outcome' && intents.includes(record.intent)) outcomes.push(record.outcome)
  }
  return { intents, outcomes }
}

/** Its tool `any` is like `work`, with any arguments. */
function openServer(options: Partial<ServerOptions> = {}): TaskServer {
  const given = taskServer({ pollIntervalMs: 20 }, options)
  given.server.tool('any', { task: 'optional', taskAfterMs: 0, input: { type: 'object' } as const }, async () =>
    String(await given.go.opened),
  )
  return given
}

for (const revision of ['2025-11-25', '2026-07-28'] as const)
  describe(`with servers of ${revision}`, () => {
    const serverOf = () => openServer({ revisions: [revision] })

    test('a call of a tool that runs only as a task returns its result', async () => {
      const { server, go } = serverOf()
      const host = await newHost({ servers: { jobs: server }, ask: person() })
      const called = host.call('jobs__only', {}, PERSON)
      setTimeout(() => go.open('done'), 50)
      expect(textOf(await called)).toBe('done')
    })

    test('a task has a status, a result and one record of its start and end in the log', async () => {
      const { server, go } = serverOf()
      const folder = newFolder()
      const host = await newHost({ folder, servers: { jobs: server }, ask: person() })
      const task = await host.callTask('jobs__any', { secret_token: 'hush' }, PERSON)
      expect(task).toMatchObject({ server: 'jobs', tool: 'any', status: 'working', isOver: false })
      expect(task.state).toMatchObject({ chain: ['you'], initiator: 'user', followed: 'here', args: { isWhole: true } })
      expect(JSON.stringify(task.state)).not.toContain('hush')
      expect((await host.tasks()).map(({ id }) => id)).toEqual([task.id])
      expect((await auditOf(folder)).outcomes).toEqual([])
      const seen: string[] = []
      const watching = (async () => {
        for await (const { status } of task) seen.push(status)
      })()
      go.open('done')
      expect(textOf(await task.result())).toBe('done')
      await watching
      expect(seen.at(-1)).toBe('completed')
      expect(await host.task(task.id)).toBe(task)
      expect(task.state).toMatchObject({ status: 'completed', result: { content: [{ text: 'done' }] } })
      const { intents, outcomes } = await auditOf(folder)
      expect(intents).toEqual([task.state.intent])
      expect(outcomes).toMatchObject([{ kind: 'done', resultBytes: expect.any(Number) }])
      expect(host.events.filter(({ kind }) => kind === 'task').length).toBeGreaterThan(1)
    })

    test('a task that has ended no longer tells its last step', async () => {
      const { server, go } = serverOf()
      server.tool('steps', { task: 'required' }, async (_args, ctx) => {
        await ctx.progress(1, 2, 'first step')
        return String(await go.opened)
      })
      const host = await newHost({ servers: { jobs: server }, ask: person() })
      const task = await host.callTask('jobs__steps', {}, PERSON)
      await expect.poll(() => task.state.statusMessage ?? task.state.progress?.message).toBe('first step')
      go.open('done')
      await task.result()
      expect([task.state.status, task.state.statusMessage, task.state.progress]).toEqual(['completed', undefined, undefined])
    })

    test('a task that has ended stays so while the host lists its tasks', async () => {
      for (let round = 0; round < 10; round++) {
        const { server, go } = serverOf()
        const host = await newHost({ servers: { jobs: server }, ask: person() })
        const task = await host.callTask('jobs__any', {}, PERSON)
        const seen: boolean[] = []
        const listing = (async () => {
          for (let more = 0; more < 5; task.isOver && more++) {
            await host.tasks()
            seen.push(task.isOver)
          }
        })()
        go.open('done')
        await task.result()
        await listing
        expect(seen.lastIndexOf(false)).toBeLessThan(seen.indexOf(true))
      }
    })

    test('a question of a task goes to the person and names the task', async () => {
      const { server } = serverOf()
      const asker = person(({ subject }) =>
        subject.kind === 'form' ? { kind: 'allow', scope: 'once', edited: { name: 'Ann' } } : undefined,
      )
      const host = await newHost({ servers: { jobs: server }, ask: asker })
      const task = await host.callTask('jobs__ask', {}, PERSON)
      expect(textOf(await task.result())).toBe('Hello, Ann')
      const question = asker.asked.find(({ subject }) => subject.kind === 'form')
      expect(question?.task).toEqual({ id: task.id, tool: 'ask' })
      expect(question?.reasons[0]).toBe(`The task ${task.id} asks, a call of "ask"`)
    })

    test('a question of a task is asked and refused like a question of a plain call', async () => {
      proves('R-TASK-132')
      const { server } = serverOf()
      const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
      const ask = async (_args: unknown, ctx: Context) => String((await ctx.elicit('name', 'Your name?', form)).name)
      server.tool('plainly', {}, ask)
      server.tool('later', { task: 'required' }, ask)
      const asker = person(({ subject }) => (subject.kind === 'form' ? NO : undefined))
      const host = await newHost({ servers: { jobs: server }, ask: asker })
      const plain = await host.call('jobs__plainly', {}, PERSON)
      const task = await host.callTask('jobs__later', {}, PERSON)
      const later = await task.result()
      const [first, second] = asker.asked.filter(({ subject }) => subject.kind === 'form')
      expect(second?.subject).toEqual(first?.subject)
      expect([second?.action, second?.server]).toEqual([first?.action, first?.server])
      expect(later.content).toEqual(plain.content)
    })

    test('cancelling aborts the handler, and the log says so', async () => {
      const { server, signal } = serverOf()
      const folder = newFolder()
      const host = await newHost({ folder, servers: { jobs: server }, ask: person() })
      const task = await host.callTask('jobs__work', {}, PERSON)
      await until(() => signal() !== undefined)
      await host.cancelTask(task.id)
      await expect(task.result()).rejects.toMatchObject({ code: 'ERR_CANCELLED' })
      expect(task.status).toBe('cancelled')
      await until(() => signal().aborted)
      expect((await auditOf(folder)).outcomes).toMatchObject([{ kind: 'cancelled' }])
    })

    test('a tool that runs at once is a task that has ended', async () => {
      const { server } = serverOf()
      const host = await newHost({ servers: { jobs: server }, ask: person() })
      const task = await host.callTask('jobs__plain', {}, PERSON)
      expect(textOf(await task.result())).toBe('plain')
      expect(task.state.taskId).toBeUndefined()
    })
  })

test('a task that the person denies does not begin', async () => {
  const { server } = taskServer()
  const host = await newHost({ servers: { jobs: server }, ask: person(({ subject }) => (subject.kind === 'call' ? NO : undefined)) })
  await expect(host.callTask('jobs__work')).rejects.toMatchObject({ code: 'ERR_DENIED' })
  expect(await host.tasks()).toEqual([])
})

test('an aborted signal ends the start of a task, and not the task', async () => {
  const { server, go } = taskServer({ pollIntervalMs: 20 })
  const host = await newHost({ servers: { jobs: server }, ask: person() })
  const stop = new AbortController()
  const task = await host.callTask('jobs__work', {}, { ...PERSON, signal: stop.signal })
  stop.abort()
  go.open('done')
  expect(textOf(await task.result())).toBe('done')
  await expect(host.callTask('jobs__work', {}, { ...PERSON, signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
})

test('an error of the tool is the error of the task', async () => {
  const { server, go } = taskServer({ pollIntervalMs: 20 })
  const host = await newHost({ servers: { jobs: server }, ask: person() })
  const task = await host.callTask('jobs__work', {}, PERSON)
  go.open(new Error('boom'))
  expect(await task.result()).toMatchObject({ isError: true })
  expect(task.isOver).toBe(true)
})

test('the next host with the folder goes on with a task, and does not ask again', async () => {
  const { server, go } = openServer()
  const folder = newFolder()
  const first = await newHost({ folder, servers: { jobs: server }, ask: person() })
  const { id, state } = await first.callTask('jobs__any', { n: 1 }, PERSON)
  await first.close()
  const asker = person()
  const second = await newHost({ folder, servers: { jobs: server }, ask: asker })
  const before = asker.asked.length
  const task = await second.task(id)
  expect(task.state).toMatchObject({ id, taskId: state.taskId, args: { preview: { n: 1 } }, chain: ['you'] })
  await until(() => task.state.followed === 'here')
  go.open('done')
  expect(textOf(await task.result())).toBe('done')
  expect(asker.asked.length).toBe(before)
  const { intents, outcomes } = await auditOf(folder)
  expect(intents).toHaveLength(1)
  expect(outcomes).toMatchObject([{ kind: 'done' }])
  await second.close()
  // The result stays.
  const third = await newHost({ folder, servers: {} })
  expect(textOf(await (await third.task(id)).result())).toBe('done')
})

test('a task whose server no longer has it ends with a reason', async () => {
  const folder = newFolder()
  const first = await newHost({ folder, servers: { jobs: taskServer().server }, ask: person() })
  const { id } = await first.callTask('jobs__work', {}, PERSON)
  await first.close()
  const second = await newHost({ folder, servers: { jobs: taskServer().server }, ask: person() })
  await expect((await second.task(id)).result()).rejects.toThrow('The server jobs no longer has the task')
  expect((await second.task(id)).status).toBe('failed')
  expect((await auditOf(folder)).outcomes).toMatchObject([{ kind: 'failed', error: 'ERR_CLOSED' }])
})

test('a task ends with a reason if its server is no longer configured', async () => {
  const folder = newFolder()
  const first = await newHost({ folder, servers: { jobs: taskServer().server }, ask: person() })
  const { id } = await first.callTask('jobs__work', {}, PERSON)
  await first.close()
  const elsewhere = await newHost({ folder, servers: {}, project: newFolder() })
  expect((await elsewhere.task(id)).isOver).toBe(false)
  await elsewhere.close()
  const partial = await newHost({ folder, servers: {}, hasOtherServers: true })
  expect((await partial.task(id)).isOver).toBe(false)
  await partial.close()
  const second = await newHost({ folder, servers: {} })
  await expect((await second.task(id)).result()).rejects.toThrow('The server jobs is no longer configured')
})

test('a task ends with a reason if the definition of its tool changed', async () => {
  const folder = newFolder()
  const first = await newHost({ folder, servers: { jobs: taskServer().server }, ask: person() })
  const { id } = await first.callTask('jobs__work', {}, PERSON)
  await first.close()
  const changed = createServer({ name: 'tasks', version: '1' })
  changed.extend(tasks())
  changed.tool('work', { task: 'optional', taskAfterMs: 0, description: 'Other words' }, () => 'other')
  const second = await newHost({ folder, servers: { jobs: changed }, ask: person(() => NO) })
  await expect((await second.task(id)).result()).rejects.toThrow('changed since the task began')
})

test('a host cancels a task that another host follows', async () => {
  const { server, signal } = taskServer({ pollIntervalMs: 20 })
  const folder = newFolder()
  const first = await newHost({ folder, servers: { jobs: server }, ask: person() })
  const second = await newHost({ folder, servers: { jobs: server }, ask: person() })
  const task = await first.callTask('jobs__work', {}, PERSON)
  await until(() => signal() !== undefined)
  const seen = await second.task(task.id)
  await until(() => seen.state.followed === 'elsewhere')
  await second.cancelTask(task.id)
  await expect(task.result()).rejects.toMatchObject({ code: 'ERR_CANCELLED' })
  await expect(seen.result()).rejects.toMatchObject({ code: 'ERR_CANCELLED' })
  await expect.poll(() => readdirSync(join(folder, STORAGE_PATHS.tasks)).filter((name) => !name.endsWith('.json'))).toEqual([])
})

test('stored tasks have no secrets, and only their owner can read them', async () => {
  const { server, go } = openServer()
  const folder = newFolder()
  const host = await newHost({ folder, servers: { jobs: server }, ask: person() })
  const task = await host.callTask('jobs__any', { password: 'correct horse', text: 'x'.repeat(100_000) }, PERSON)
  go.open('done')
  await task.result()
  await until(() => readFileSync(join(folder, STORAGE_PATHS.tasks, `${task.id}.json`), 'utf8').includes('outcome'))
  const text = readFileSync(join(folder, STORAGE_PATHS.tasks, `${task.id}.json`), 'utf8')
  expect(text).not.toContain('correct horse')
  expect(text.length).toBeLessThan(40_000)
  expect(task.state.args.isWhole).toBe(false)
})
