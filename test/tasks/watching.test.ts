/** What a process asks its store to notice changes of tasks by other processes. */

import { expect, onTestFinished, test } from 'vitest'
import { sharedMemoryTasks } from '../../src/store/memory/shared-tasks.ts'
import type { TaskRecord, TaskStore } from '../../src/tasks/index.ts'
import { settle } from '../support/raw-channel.ts'
import { sessionClient, taskServer } from './task-server.ts'

test('a process watches each task once, and reads it once after a change, whoever waits for it', async () => {
  const memory = sharedMemoryTasks(60_000)
  const counts = { watches: 0, reads: 0 }
  const store: TaskStore = {
    ...memory,
    read: (...key) => {
      counts.reads++
      return memory.read(...key)
    },
    watch: (...args) => {
      counts.watches++
      const stop = memory.watch?.(...args)
      return () => {
        counts.watches--
        stop?.()
      }
    },
  }
  const { server } = taskServer({ store })
  onTestFinished(() => server.close())
  const client = await sessionClient(server)
  const { taskId } = (await client.call('work', {})).result.task
  const results = [1, 2, 3].map(() => client.ask('tasks/result', { taskId }))
  await settle()
  expect(counts.watches).toBe(1)
  counts.reads = 0
  const task = (await memory.read('', taskId)) as TaskRecord
  await memory.replace({ ...task, edition: 2, statusMessage: 'half' })
  await settle()
  expect([counts.watches, counts.reads]).toEqual([1, 1])
  expect(client.out.filter(({ params }) => params?.statusMessage === 'half')).toHaveLength(1)
  await client.ask('tasks/cancel', { taskId })
  await Promise.all(results)
  expect(counts.watches).toBe(0)
})
