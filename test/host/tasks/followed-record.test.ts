import { expect, test } from 'vitest'
import type { TaskState } from '../../../src/client/tasks/task-handle.ts'
import { FollowedRecord } from '../../../src/host/tasks/followed-record.ts'
import type { TaskFiles } from '../../../src/host/tasks/task-files.ts'
import type { TaskRecord } from '../../../src/host/tasks/task-record.ts'
import { gate } from '../../support/http-service.ts'

test('a server that changes its task all the time fills no queue of writes, and the last change is written', async () => {
  const written: TaskRecord[] = []
  const slow = gate<void>()
  const files = {
    write: async (record: TaskRecord) => {
      written.push(record)
      await slow.opened
    },
  } as unknown as TaskFiles
  const record = new FollowedRecord({ id: 'a', status: 'working' } as TaskRecord, files, () => {})
  const state: TaskState = {
    id: 't',
    status: 'working',
    statusMessage: undefined,
    createdAt: undefined,
    lastUpdatedAt: undefined,
    ttlMs: null,
    progress: undefined,
  }
  for (let i = 0; i < 1001; i++) record.see({ ...state, status: i % 2 ? 'working' : 'input_required' }, (progress) => progress, i)
  slow.open()
  await record.write()
  expect(written.length).toBeLessThan(4)
  expect(written.at(-1)).toMatchObject({ status: 'input_required', updatedAt: 1000 })
})
