import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fileTaskStore, memoryTaskStore, type TaskStore } from '../../src/tasks/index.ts'
import { checkTaskStore } from '../../src/testing/index.ts'
import { temporaryFolders } from '../support/folders.ts'

const temporaryFolder = temporaryFolders()

test('the store in memory keeps the rules of a store', () => checkTaskStore(() => memoryTaskStore()))

test('the store of files keeps the rules of a store', () => checkTaskStore(() => fileTaskStore(temporaryFolder())), 30_000)

describe('the check of stores', () => {
  const broken = (change: (store: TaskStore) => Partial<TaskStore>): (() => TaskStore) => {
    return () => {
      const store = memoryTaskStore()
      return { ...store, ...change(store) }
    }
  }

  test.each<[string, () => TaskStore]>([
    ['forgets a change', broken(() => ({ replace: async () => true }))],
    ['ignores the limits', broken((store) => ({ create: (task) => store.create(task, { perAccount: 99, total: 99 }) }))],
    ['ignores the owner', broken((store) => ({ read: (_owner, id) => store.read('o', id) }))],
    ['neglects nothing', broken(() => ({ neglected: async () => [] }))],
  ])('finds a store that %s', async (_what, make) => {
    await expect(checkTaskStore(make)).rejects.toThrow('TaskStore, ')
  })
})

test('files of tasks are private, and a damaged file does not hide the other tasks', async () => {
  const folder = temporaryFolder()
  const store = fileTaskStore(folder)
  const task = {
    taskId: 'a',
    owner: 'o',
    account: 'o',
    edition: 1,
    tool: 't',
    params: {},
    caller: { client: undefined, capabilities: {}, auth: undefined, revision: '' },
    status: 'working' as const,
    createdAt: 0,
    updatedAt: 0,
    ttlMs: 1,
    pollIntervalMs: 1,
    questions: {},
    received: {},
    journal: { callId: '', asked: {}, answers: {}, steps: {} },
    lease: { holder: '', epoch: 1, until: 0 },
  }
  const caps = { perAccount: 9, total: 9 }
  await store.create(task, caps)
  await store.create({ ...task, taskId: 'b' }, caps)
  const [owner = ''] = readdirSync(folder)
  const files = readdirSync(join(folder, owner)).sort()
  expect(files).toEqual(['a.json', 'b.json'])
  for (const file of files) expect(statSync(join(folder, owner, file)).mode & 0o777).toBe(0o600)
  writeFileSync(join(folder, owner, 'a.json'), '{"broken')
  expect((await store.list('o')).map(({ taskId }) => taskId)).toEqual(['b'])
  await expect(store.read('o', 'a')).rejects.toMatchObject({ code: 'ERR_STORE' })
})
