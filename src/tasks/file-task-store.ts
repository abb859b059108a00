/** `fileTaskStore`: tasks in a folder. They survive a crash, and several processes can share them. */

import { McpError } from '../protocol/errors.ts'
import type { TaskStore } from '../protocol/interfaces/task-store.ts'
import { withDefaults } from '../protocol/with-defaults.ts'

/** Limits of `fileTaskStore`, in bytes. Each task counts 4 KiB more than its file. More is refused with ERR_LIMIT. */
export interface FileTaskStoreLimits {
  /** The files of all tasks. Default: 1 GiB. */
  maxBytes: number
  /** The files of the tasks of one caller: of one principal, or without authentication of one connection or address. Default: 256 MiB. */
  maxBytesPerCaller: number
}

/** The default limits of `fileTaskStore`. */
export const DEFAULT_FILE_TASK_STORE_LIMITS: FileTaskStoreLimits = { maxBytes: 1024 * 1024 * 1024, maxBytesPerCaller: 256 * 1024 * 1024 }

/**
 * Keeps tasks as files in a folder, so that they survive the process. A task is on the disk before the client knows it. Processes
 * that share a folder see each other's tasks. Needs Node.
 *
 * @example
 * server.extend(tasks({ store: fileTaskStore('/var/lib/reports/tasks') }))
 *
 * @param folder is created if needed, for this user only
 * @param options how much the folder may hold
 */
export function fileTaskStore(folder: string, options: Partial<FileTaskStoreLimits> = {}): TaskStore {
  if (typeof folder !== 'string' || folder === '')
    throw new McpError('ERR_DEFINITION', `fileTaskStore: expected the path of a folder, got ${JSON.stringify(folder)}`)
  const limits = withDefaults(DEFAULT_FILE_TASK_STORE_LIMITS, options, { of: 'fileTaskStore' })
  let opened: Promise<TaskStore> | undefined
  // Loaded on use, because other runtimes have no files.
  const open = (): Promise<TaskStore> => {
    opened ??= import('./node/task-files.ts').then(({ TaskFiles }) => new TaskFiles(folder, limits))
    return opened
  }
  return {
    isShared: true,
    create: async (task, caps) => (await open()).create(task, caps),
    read: async (owner, taskId) => (await open()).read(owner, taskId),
    head: async (owner, taskId) => (await open()).head(owner, taskId),
    replace: async (task) => (await open()).replace(task),
    renew: async (owner, taskId, lease) => (await open()).renew(owner, taskId, lease),
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
