/** Tasks in memory that several replicas use. */

import type { TaskStore } from '../../protocol/interfaces/task-store.ts'
import { memoryTaskStore } from './task-store.ts'

/** How often to look for tasks of replicas that are gone. */
const LOOK_MS = 1000

export function sharedMemoryTasks(leaseMs: number): TaskStore {
  const tasks = memoryTaskStore()
  const listeners = new Map<string, Set<() => void>>()
  const nameOf = (owner: string, taskId: string): string => `${taskId} ${owner}`
  const tell = (owner: string, taskId: string): void => {
    for (const listener of [...(listeners.get(nameOf(owner, taskId)) ?? [])]) queueMicrotask(listener)
  }
  return {
    ...tasks,
    isShared: true,
    leaseMs,
    lookMs: LOOK_MS,
    replace: async (task) => {
      const isReplaced = await tasks.replace(task)
      if (isReplaced) tell(task.owner, task.taskId)
      return isReplaced
    },
    remove: async (owner, taskId) => {
      await tasks.remove(owner, taskId)
      tell(owner, taskId)
    },
    watch: (owner, taskId, listener) => {
      const name = nameOf(owner, taskId)
      const all = listeners.get(name) ?? new Set()
      listeners.set(name, all.add(listener))
      return () => {
        all.delete(listener)
        if (all.size === 0) listeners.delete(name)
      }
    },
  }
}
