/** The rules of tasks: those of every store of tasks, and those of tasks that replicas share. */

import { randomId } from '../../base/bytes.ts'
import type { TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { TaskStore } from '../../protocol/interfaces/task-store.ts'
import { sampleTask, TASK_RULES } from '../check-task-store.ts'
import { expectEqual, expectTrue, pause, type StoreCheck } from './expect.ts'

const CAPS = { perAccount: 10, total: 1000 }
/** How long the news of a change may take. */
const NEWS_MS = 5000

const sharesTasks: StoreCheck = async (open) => {
  const [{ tasks: a }, { tasks: b }] = [await open(), await open()]
  if (!a || !b) return
  expectTrue('tasks that replicas share are marked as shared', a.isShared)
  const owner = randomId()
  const task: TaskRecord = sampleTask(randomId(), {
    owner,
    account: owner,
    createdAt: Date.now(),
    ttlMs: 60_000,
    params: { name: 'work', arguments: { nothing: null } },
  })
  await a.create(task, CAPS)
  expectEqual('a task at another replica', await b.read(owner, task.taskId), task)
  expectEqual(
    'the list at another replica',
    (await b.list(owner)).map(({ taskId }) => taskId),
    [task.taskId],
  )
  const news = newsOf(a, task)
  await pause(300)
  const changes = [a, b].map((tasks, at) => tasks.replace({ ...task, edition: 2, statusMessage: String(at) }))
  expectEqual('changes of one edition at two replicas', (await Promise.all(changes)).filter(Boolean).length, 1)
  await b.replace({ ...task, edition: 3, status: 'completed' })
  await news
  expectEqual('a task after the news of its change', (await a.read(owner, task.taskId))?.edition, 3)
  await b.remove(owner, task.taskId)
  expectEqual('a task that another replica removed', await a.read(owner, task.taskId), undefined)
}

/** Resolves when the store tells of the third edition. */
async function newsOf(tasks: TaskStore, { owner, taskId }: TaskRecord): Promise<void> {
  let stop: (() => void) | undefined
  const told = new Promise<void>((resolve) => {
    stop = tasks.watch?.(owner, taskId, () => {
      void tasks.read(owner, taskId).then((task) => {
        if (task?.edition === 3) resolve()
      })
    })
  })
  const late = pause(NEWS_MS).then(() => {
    throw new Error(`SharedStore, watch of a task: expected news within ${NEWS_MS} ms, got none`)
  })
  await Promise.race([told, late]).finally(() => stop?.())
}

/** A rule of every store of tasks, in a store that other checks use, too. */
const alone =
  (rule: (tasks: TaskStore) => Promise<void>): StoreCheck =>
  async (open) => {
    const { tasks } = await open()
    if (!tasks) return
    const { owner } = sampleTask('')
    try {
      await rule(tasks)
    } finally {
      for (const { taskId, account } of await tasks.list(owner)) await tasks.remove(owner, taskId, account)
    }
  }

export const taskChecks: StoreCheck[] = [...TASK_RULES.map(alone), sharesTasks]
