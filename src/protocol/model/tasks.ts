/** Tasks: the answer to a request is a task, whose result is fetched later. An experimental feature of one revision, then an extension. */

import { isObject } from '../../base/json.ts'
import type { Meta, Paged, Result } from './base.ts'

/** The id of the extension. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** The metadata of messages that belong to a task. */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task'

/** The metadata of a task for a client that cannot answer its questions: the capabilities that the client lacks. */
export const NEEDED_CAPABILITIES = 'dev.portico/neededCapabilities'

/** The id of the task that a message belongs to. */
export function relatedTask(params: { _meta?: unknown } | undefined): string | undefined {
  const related = isObject(params?._meta) ? params._meta[RELATED_TASK] : undefined
  return isObject(related) && typeof related.taskId === 'string' ? related.taskId : undefined
}

/** The status of a task. The last three are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** Whether a task has ended. It never changes again. */
export const isFinal = ({ status }: { status: TaskStatus }): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled'

/** A request whose result is fetched later. */
export interface Task {
  taskId: string
  status: TaskStatus
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
