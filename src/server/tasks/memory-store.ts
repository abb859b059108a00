/** The default store of tasks: the memory of this process. */

import { isFinal } from '../../protocol/model/tasks.ts'
import { expiryOf, type TaskRecord } from './task-record.ts'
import type { TaskStore } from './task-store.ts'

/**
 * Keeps tasks in the memory of this process. They are lost when it ends.
 *
 * @example
 * server.extend(tasks({ store: memoryTaskStore() }))
 */
export function memoryTaskStore(): TaskStore {
  const tasks = new Map<string, TaskRecord>()
  const counts = new Map<string, number>()
  const keyOf = (owner: string, taskId: string): string => `${taskId} ${owner}`
  const count = (account: string, change: number): void => {
    const next = (counts.get(account) ?? 0) + change
    if (next === 0) counts.delete(account)
    else counts.set(account, next)
  }
  return {
    isShared: false,
    create: async (task, { perAccount, total }) => {
      if (tasks.size >= total) return 'store-full'
      if ((counts.get(task.account) ?? 0) >= perAccount) return 'account-full'
      tasks.set(keyOf(task.owner, task.taskId), task)
      count(task.account, 1)
      return undefined
    },
    read: async (owner, taskId) => tasks.get(keyOf(owner, taskId)),
    replace: async (task) => {
      const key = keyOf(task.owner, task.taskId)
      if (tasks.get(key)?.edition !== task.edition - 1) return false
      tasks.set(key, task)
      return true
    },
    remove: async (owner, taskId) => {
      const key = keyOf(owner, taskId)
      const task = tasks.get(key)
      if (task && tasks.delete(key)) count(task.account, -1)
    },
    list: async (owner) => [...tasks.values()].filter((task) => task.owner === owner),
    neglected: async (now) => [...tasks.values()].filter((task) => expiryOf(task) <= now || (!isFinal(task) && task.lease.until <= now)),
  }
}
