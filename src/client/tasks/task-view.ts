/** Reads the tasks in messages of the server, in both forms. */

import { isObject } from '../../base/json.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import type { TaskStatus } from '../../protocol/model/tasks.ts'
import type { TaskState } from './task-handle.ts'

/** A task as the server describes it. */
export interface TaskView extends Omit<TaskState, 'id' | 'progress'> {
  id: string
  pollIntervalMs: number
  /** Its open questions, its result or its error, in the form that has them here. */
  details: Params
}

/** Ids are repeated in every request and in a header. */
const MAX_ID_CHARS = 1024
/** People read it. */
const MAX_MESSAGE_CHARS = 2000
const MAX_TIME_CHARS = 64

/** How often to ask if the server does not say. */
const USUAL_POLL_MS = 1000
/** A server cannot make a client ask more often than this. */
const MIN_POLL_MS = 20
/** A server cannot make a client wait longer than this before it asks again. */
const MAX_POLL_MS = 5 * 60_000

/** About 3,000 years: the end of a longer time is not a date. */
const MAX_TTL_MS = 1e14
const isTime = (ms: unknown): ms is number => typeof ms === 'number' && ms >= 0 && ms <= MAX_TTL_MS

const STATUSES: ReadonlySet<unknown> = new Set<TaskStatus>(['working', 'input_required', 'completed', 'failed', 'cancelled'])

/**
 * Throws ERR_ANSWER_INVALID if it is not a task, or a task with another id.
 *
 * @param what names the message in errors
 * @param id the task that was asked for
 */
export function readTask(what: string, task: unknown, id?: string): TaskView {
  if (!isObject(task)) throw invalid(what, 'has no task')
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt } = task
  if (typeof taskId !== 'string' || taskId === '') throw invalid(what, 'has no taskId')
  if (taskId.length > MAX_ID_CHARS) throw invalid(what, `has a taskId of ${taskId.length} characters; at most ${MAX_ID_CHARS}`)
  if (id !== undefined && taskId !== id) throw invalid(what, `is about the task ${JSON.stringify(taskId)}, not ${JSON.stringify(id)}`)
  if (!STATUSES.has(status)) throw invalid(what, `has an unknown status: ${JSON.stringify(status)?.slice(0, 100)}`)
  const { ttlMs = task.ttl, pollIntervalMs = task.pollInterval } = task
  return {
    id: taskId,
    status: status as TaskStatus,
    statusMessage: textIn(statusMessage, MAX_MESSAGE_CHARS),
    createdAt: textIn(createdAt, MAX_TIME_CHARS),
    lastUpdatedAt: textIn(lastUpdatedAt, MAX_TIME_CHARS),
    ttlMs: isTime(ttlMs) || ttlMs === null ? ttlMs : undefined,
    pollIntervalMs: typeof pollIntervalMs === 'number' ? Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, pollIntervalMs)) : USUAL_POLL_MS,
    details: task,
  }
}

export const invalid = (what: string, fault: string): McpError => new McpError('ERR_ANSWER_INVALID', `${what} ${fault}`)

const textIn = (value: unknown, max: number): string | undefined => (typeof value === 'string' ? value.slice(0, max) : undefined)
