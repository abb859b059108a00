/** Tasks, an experimental feature of one revision: the answer is a task whose result is fetched later. Types only. */

import type { Meta, Paged, Result } from './base.ts'

/** A request whose result is fetched later. */
export interface Task {
  taskId: string
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
  statusMessage?: string
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601. */
  lastUpdatedAt: string
  /** How long the task is kept after its creation, in milliseconds. null: forever. */
  ttl: number | null
  /** The recommended time between two polls, in milliseconds. */
  pollInterval?: number
}

/** Added to the params of a request that should become a task. */
export interface TaskWish {
  task?: { ttl?: number }
}

export interface TaskParams {
  taskId: string
  _meta?: Meta
}

/** The answer to a request that became a task. */
export interface CreateTaskResult extends Result {
  task: Task
}

export interface ListTasksResult extends Result, Paged {
  tasks: Task[]
}
