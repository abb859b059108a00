/** The check of a store notices that its tasks break a rule, and its error says which rule. */

import { expect, test } from 'vitest'
import { memoryStore, type SharedStore } from '../../src/store/index.ts'
import type { TaskStore } from '../../src/tasks/index.ts'
import { checkStore } from '../../src/testing/index.ts'

const FAULTS: [fault: string, text: string, change: (of: TaskStore) => Partial<TaskStore>][] = [
  ['a renewal is forgotten', 'TaskStore, read after renew: expected', (of) => ({ renew: forgetful(of) })],
  [
    'a change ends a renewed lease',
    'TaskStore, read after a replace that was prepared before renew: expected',
    (of) => ({
      replace: async (task) => {
        const isReplaced = await of.replace(task)
        if (isReplaced) await of.renew(task.owner, task.taskId, task.lease)
        return isReplaced
      },
    }),
  ],
  [
    'tasks have no limits',
    'an account that may have two: expected 1, got 0',
    (of) => ({ create: (task) => of.create(task, { perAccount: 99, total: 99 }) }),
  ],
  [
    'a list has no outcome',
    'TaskStore, task in a list: expected',
    (of) => ({ list: async (owner) => withoutOutcome(await of.list(owner)) }),
  ],
  [
    'a replacement returns nothing',
    'tasks.replace: expected true or false, got nothing',
    () => ({ replace: async () => undefined as never }),
  ],
  ['a head is a text', 'tasks.head: expected an object with taskId, ', () => ({ head: async () => 'a' as never })],
  ['there is no method', 'tasks.renew: expected a method, got nothing', () => ({ renew: undefined as never })],
]

/** Renews nothing, and says whether it could. */
const forgetful =
  (of: TaskStore): TaskStore['renew'] =>
  async (owner, taskId, lease) => {
    const kept = await of.head(owner, taskId)
    return (await of.renew(owner, taskId, lease)) && of.renew(owner, taskId, kept?.lease ?? lease)
  }

const withoutOutcome = (tasks: Awaited<ReturnType<TaskStore['list']>>) => tasks.map(({ outcome: _, ...task }) => task)

test.concurrent.each(FAULTS)('the check notices that %s', async (_fault, text, change) => {
  const store = memoryStore()
  const open = (): SharedStore => {
    const one = store.another()
    const tasks = one.tasks as TaskStore
    return { ...one, tasks: { ...tasks, ...change(tasks) } }
  }
  await expect(checkStore(open)).rejects.toThrow(text)
})

test('a store without tasks keeps the rules', async () => {
  const store = memoryStore()
  await checkStore(() => {
    const { tasks: _, ...one } = store.another()
    return one
  })
})
