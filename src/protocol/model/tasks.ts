/** Tasks, an experiment of one revision: a request answered with a ticket, its result fetched later. Only described here. */

import type { Meta, Paged, Result } from './base.ts'

export interface Task {
  taskId: string
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
  statusMessage?: string
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601. */
  lastUpdatedAt: string
  /** Milliseconds that it is kept after its creation; null for ever. */
  ttl: number | null
  /** Milliseconds between two looks at it. */
  pollInterval?: number
}

/** Beside the params of a request that shall become a task. */
export interface TaskWish {
  task?: { ttl?: number }
}

export interface TaskParams {
  taskId: string
  _meta?: Meta
}

export interface CreateTaskResult extends Result {
  task: Task
}

export interface ListTasksResult extends Result, Paged {
  tasks: Task[]
}
