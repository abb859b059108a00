/** The options of tasks. */

import type { TaskStore } from '../../protocol/interfaces/task-store.ts'
import type { TaskStatus } from '../../protocol/model/tasks.ts'
import type { TaskLimits } from './limits.ts'

/** A change of a task, for logs and metrics. */
export interface TaskChange {
  taskId: string
  tool: string
  status: TaskStatus
  statusMessage: string | undefined
  /** The caller that the task belongs to. Undefined without authentication. */
  principal: string | undefined
}

/** How tasks run and where they are kept: `tasks({ ... })`. All are optional. */
export interface TaskOptions {
  /**
   * Where tasks are kept. `fileTaskStore` of portico/tasks keeps them in a folder. Default: the `store` of `listen`, otherwise the memory of
   * this process.
   */
  store?: TaskStore
  /** How long a task and its result are kept after its creation. Default: 1 hour. `taskTtlMs` of a tool overrides it. */
  ttlMs?: number
  /** The longest time that a caller may ask for. Default: 24 hours. */
  maxTtlMs?: number
  /** The same for callers over HTTP without authentication. Default: 1 hour. */
  maxAnonymousTtlMs?: number
  /** How often clients should ask for the status. Default: 1,000. */
  pollIntervalMs?: number
  /** When a call of an optional tool becomes a task, if the server decides. Default: 1,000. `taskAfterMs` of a tool overrides it. */
  afterMs?: number
  /** How long a task of a process that stopped responding waits for another process. Only for shared stores. Default: the lease of the store, otherwise 60,000. */
  leaseMs?: number
  /** Limits that differ from `DEFAULT_TASK_LIMITS`. */
  limits?: Partial<TaskLimits>
  /**
   * Called when a task is created and when its status changes.
   *
   * @example
   * server.extend(tasks({ onChange: (task) => logger.info(task) }))
   */
  onChange?(task: TaskChange): void
}

/** The default options of `tasks()`. */
export const DEFAULT_TASK_OPTIONS = {
  ttlMs: 60 * 60_000,
  maxTtlMs: 24 * 60 * 60_000,
  maxAnonymousTtlMs: 60 * 60_000,
  pollIntervalMs: 1000,
  afterMs: 1000,
  leaseMs: 60_000,
} as const satisfies TaskOptions

export type TaskSettings = Required<Omit<TaskOptions, 'store' | 'onChange' | 'limits' | 'leaseMs'>>
