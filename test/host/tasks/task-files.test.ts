/** The files of tasks: their number and size, who follows a task, and files that cannot be read. */

import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TaskFiles } from '../../../src/host/tasks/task-files.ts'
import type { TaskRecord } from '../../../src/host/tasks/task-record.ts'
import { temporaryFolders } from '../../support/folders.ts'

const newFolder = temporaryFolders()
const HOUR_MS = 60 * 60_000

const record = (id: string, more: Partial<TaskRecord> = {}): TaskRecord => ({
  id: id.padEnd(10, 'a'),
  server: 'jobs',
  tool: 'build',
  taskId: 't',
  chain: ['you'],
  initiator: 'user',
  conversation: 'c',
  args: { preview: {}, isWhole: true },
  startedAt: 1_000,
  updatedAt: 1_000,
  intent: 1,
  status: 'working',
  fingerprint: 'f',
  project: '/p',
  principal: 'ann',
  maxBytes: 1_000,
  mayContainFiles: false,
  ...more,
})

const ended = (id: string, at: number): TaskRecord =>
  record(id, { startedAt: at, endedAt: at, status: 'completed', outcome: { result: { content: [] } } })

test('the number of stored tasks is limited: old ones that ended make room, and running ones are an error', async () => {
  const files = new TaskFiles({ folder: newFolder(), limits: { maxTasks: 3 }, now: () => 5_000 })
  for (const [at, id] of ['b', 'c', 'd'].entries()) await files.write(ended(id, at))
  await files.makeRoom()
  expect((await files.list()).map(({ id }) => id[0])).toEqual(['d', 'c'])
  for (const id of ['e', 'f', 'g']) await files.write(record(id))
  await expect(files.makeRoom()).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxTasks') })
})

test('a task that has ended is removed after the server deleted it, but not before an hour', async () => {
  let now = 0
  const files = new TaskFiles({ folder: newFolder(), now: () => now })
  await files.write({ ...ended('b', 0), expiresAt: 10 })
  now = HOUR_MS - 1
  await files.makeRoom()
  expect(await files.list()).toHaveLength(1)
  now = HOUR_MS + 1
  await files.makeRoom()
  expect(await files.list()).toEqual([])
})

test('a task that is too large is not stored, and the error names the limit', async () => {
  const files = new TaskFiles({ folder: newFolder(), limits: { maxTaskBytes: 500 } })
  const large = record('b', { statusMessage: 'x'.repeat(600) })
  await expect(files.write(large)).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxTaskBytes') })
})

test('a damaged file is reported once and hides no other task', async () => {
  const folder = newFolder()
  const warnings: string[] = []
  const files = new TaskFiles({ folder, onWarning: (text) => warnings.push(text) })
  await files.write(record('b'))
  writeFileSync(join(folder, 'caaaaaaaaa.json'), '{"id":', { mode: 0o600 })
  expect(await files.list()).toHaveLength(1)
  expect(await files.list()).toHaveLength(1)
  expect(warnings).toEqual([expect.stringContaining('caaaaaaaaa.json is not a stored task')])
})

test('one process follows a task, and another one takes it over when that process was not seen for a while', async () => {
  let now = 0
  const folder = newFolder()
  const [one, other] = [new TaskFiles({ folder, now: () => now }), new TaskFiles({ folder, now: () => now })]
  const { id } = record('b')
  await one.write(record('b'))
  expect(await one.claim(id)).toMatchObject({ follower: { token: one.token } })
  expect(await other.claim(id)).toBeUndefined()
  now = 61_000
  expect(await other.claim(id)).toMatchObject({ follower: { token: other.token } })
  await one.write(ended('c', 1))
  expect(await one.claim('caaaaaaaaa')).toBeUndefined()
})

// Windows has no permissions of this kind.
test.skipIf(process.platform === 'win32')('only the owner can read the files', async () => {
  const folder = join(newFolder(), 'tasks')
  const files = new TaskFiles({ folder })
  await files.write(record('b'))
  await files.requestCancel(record('b').id)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  await files.list()
  expect(files.isCancelRequested(record('b').id)).toBe(true)
})
