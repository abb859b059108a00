/** Tasks in words. */

import { expect, test } from 'vitest'
import type { WaitingQuestion } from '../../../console/src/state/console-state.ts'
import { staleRoutes } from '../../../console/src/state/stale.ts'
import {
  orderedTasks,
  questionsOf,
  startedBy,
  taskMessage,
  taskMs,
  taskNote,
  taskShare,
  taskState,
} from '../../../console/src/state/tasks.ts'
import type { TaskView } from '../../../src/console/api.ts'

const task = (more: Partial<TaskView> = {}): TaskView => ({
  id: 'abcdefghjk',
  server: 'deploy',
  tool: 'deploy',
  chain: ['you'],
  initiator: 'user',
  conversation: 'c',
  args: { preview: {}, isWhole: true },
  startedAt: 1_000,
  updatedAt: 1_000,
  intent: 7,
  status: 'working',
  followed: 'here',
  isCancelling: false,
  ...more,
})

test('each state of a task has a word and a tone', () => {
  const ended = { endedAt: 2_000 }
  expect(taskState(task())).toEqual({ word: 'running', tone: 'plain' })
  expect(taskState(task({ status: 'input_required' }))).toEqual({ word: 'asks you', tone: 'waiting' })
  expect(taskState(task({ followed: 'waiting' }))).toEqual({ word: 'not connected', tone: 'waiting' })
  expect(taskState(task({ isCancelling: true }))).toEqual({ word: 'cancelling', tone: 'waiting' })
  expect(taskState(task({ status: 'completed', ...ended }))).toEqual({ word: 'done', tone: 'fine' })
  expect(taskState(task({ status: 'cancelled', ...ended }))).toEqual({ word: 'cancelled', tone: 'plain' })
  expect(taskState(task({ status: 'failed', ...ended }))).toEqual({ word: 'failed', tone: 'danger' })
  const kept = { code: 'ERR_DENIED', message: 'kept back' }
  expect(taskState(task({ status: 'completed', error: kept, ...ended }))).toEqual({ word: 'failed', tone: 'danger' })
})

test('the message is what the server says, or why the task ended', () => {
  expect(taskMessage(task())).toBe('')
  expect(taskMessage(task({ progress: { progress: 1, message: 'step 1' } }))).toBe('step 1')
  expect(taskMessage(task({ statusMessage: 'step 2', progress: { progress: 1, message: 'step 1' } }))).toBe('step 2')
  expect(taskMessage(task({ statusMessage: 'step 2', error: { code: undefined, message: 'lost' } }))).toBe('lost')
  // Text of a server cannot hide letters.
  expect(taskMessage(task({ statusMessage: 'a\u202eb' }))).not.toContain('\u202e')
})

test('a note says why nothing happens', () => {
  expect(taskNote(task())).toBeUndefined()
  expect(taskNote(task({ followed: 'elsewhere' }))).toContain('Another process')
  expect(taskNote(task({ followed: 'waiting' }))).toContain('deploy is not connected')
  expect(taskNote(task({ followed: 'waiting', endedAt: 2_000 }))).toBeUndefined()
})

test('progress is a share if the server gives a total, and times end with the task', () => {
  expect(taskShare(task())).toBeUndefined()
  expect(taskShare(task({ progress: { progress: 3 } }))).toBeUndefined()
  expect(taskShare(task({ progress: { progress: 3, total: 4 } }))).toBe(0.75)
  expect(taskShare(task({ progress: { progress: 9, total: 4 } }))).toBe(1)
  expect(taskMs(task(), 4_000)).toBe(3_000)
  expect(taskMs(task({ endedAt: 2_000 }), 4_000)).toBe(1_000)
  expect(startedBy(task({ chain: ['you', 'model scripted'] }))).toBe('model scripted')
})

test('running tasks come first, then the newest', () => {
  const rows = [task({ id: 'a', endedAt: 9, startedAt: 8 }), task({ id: 'b', startedAt: 1 }), task({ id: 'c', startedAt: 5 })]
  expect(orderedTasks(rows).map(({ id }) => id)).toEqual(['c', 'b', 'a'])
})

test('the questions of a task are those that name it', () => {
  const asked = (id: string, of?: string) => ({ id, ...(of && { view: { question: { task: { id: of, tool: 't' } } } }) }) as WaitingQuestion
  expect(questionsOf([asked('1'), asked('2', 'x'), asked('3', 'y')], 'x').map(({ id }) => id)).toEqual(['2'])
})

test('an event about a task makes the fetched tasks stale', () => {
  const data = { id: 'a', server: 's', tool: 't', status: 'working' } as const
  expect(staleRoutes({ name: 'task', data } as Parameters<typeof staleRoutes>[0])).toEqual(['GET /api/tasks', 'GET /api/tasks/:id'])
  expect(staleRoutes({ name: 'task', data: { ...data, status: 'completed' } } as Parameters<typeof staleRoutes>[0])).toContain(
    'GET /api/audit',
  )
})
