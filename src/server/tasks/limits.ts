/** The limits of tasks and their defaults. */

import type { Rate } from '../../base/rate.ts'

/** Limits for `tasks({ limits })`. A rate of `false` means no limit. */
export interface TaskLimits {
  /** Tasks of one caller, finished ones included. More are refused. */
  maxTasksPerCaller: number
  /** Tasks of the store, finished ones included. More are refused. */
  maxTasks: number
  /** The result of one task as JSON, and all its answers and steps together. */
  maxTaskBytes: number
  /** Requests of one caller about its tasks. Listening counts as one for each 50 tasks. */
  taskRequests: Rate | false
}

/** The default limits of tasks. */
export const DEFAULT_TASK_LIMITS: TaskLimits = {
  maxTasksPerCaller: 100,
  maxTasks: 1000,
  maxTaskBytes: 4 * 1024 * 1024,
  taskRequests: { perSecond: 100, burst: 200 },
}
