/** `fileTaskStore`: tasks in a folder. They survive a crash, and several processes can share them. */

import type { TaskStore } from '../protocol/interfaces/task-store.ts'

/**
 * Keeps tasks as files in a folder, so that they survive the process. A task is on the disk before the client knows it. Processes
 * that share a folder see each other's tasks. Needs Node.
 *
 * @example
 * server.extend(tasks({ store: fileTaskStore('/var/lib/reports/tasks') }))
 *
 * @param folder is created if needed, for this user only
 */
export function fileTaskStore(folder: string): TaskStore {
  let opened: Promise<TaskStore> | undefined
  // Loaded on use, because other runtimes have no files.
  const open = (): Promise<TaskStore> => {
    opened ??= import('./node/task-files.ts').then(({ TaskFiles }) => new TaskFiles(folder))
    return opened
  }
  return {
    isShared: true,
    create: async (task, caps) => (await open()).create(task, caps),
    read: async (owner, taskId) => (await open()).read(owner, taskId),
    head: async (owner, taskId) => (await open()).head?.(owner, taskId),
    replace: async (task) => (await open()).replace(task),
    remove: async (owner, taskId) => (await open()).remove(owner, taskId),
    list: async (owner) => (await open()).list(owner),
    neglected: async (now) => (await open()).neglected(now),
    watch: (owner, taskId, listener) => {
      let stop: (() => void) | undefined
      let isStopped = false
      open().then(
        (store) => {
          if (!isStopped) stop = store.watch?.(owner, taskId, listener)
        },
        () => {},
      )
      return () => {
        isStopped = true
        stop?.()
      }
    },
  }
}
