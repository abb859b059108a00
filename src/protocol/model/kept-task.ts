/** A task as its receiver keeps it, and as it shows it where the requestor asks for tasks. Servers and clients can be receivers. */

import { isObject } from '../../base/json.ts'
import type { ErrorObject, Params } from '../../jsonrpc/message.ts'
import { RELATED_TASK, type TaskStatus } from './tasks.ts'

/** What the request would have been answered if it had not become a task. */
export type TaskOutcome = { result: Params } | { error: ErrorObject }

/** A task as its receiver keeps it. */
export interface KeptTask {
  taskId: string
  status: TaskStatus
  statusMessage?: string
  /** Milliseconds since 1970. */
  createdAt: number
  updatedAt: number
  /** How long the task is kept after its creation. */
  ttlMs: number
  pollIntervalMs: number
  outcome?: TaskOutcome
}

export const relatedTo = (taskId: string): Params => ({ [RELATED_TASK]: { taskId } })

/** The longest text of a status. People read it, and every poll carries it. */
const MAX_STATUS_CHARS = 500

export const statusText = (text: string): string => (text.length > MAX_STATUS_CHARS ? `${text.slice(0, MAX_STATUS_CHARS)}...` : text)

/** A task in a revision where requestors ask for tasks. A tool result with `isError` is a failure there. */
export function requestedTask(task: KeptTask): Params {
  const result = task.outcome && 'result' in task.outcome ? task.outcome.result : undefined
  const failure = result?.isError === true ? { status: 'failed', statusMessage: failureText(result) } : undefined
  const { statusMessage = failure?.statusMessage } = task
  return {
    taskId: task.taskId,
    status: failure?.status ?? task.status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    ...taskTimes(task),
    ttl: task.ttlMs,
    pollInterval: task.pollIntervalMs,
  }
}

export const taskTimes = ({ createdAt, updatedAt }: KeptTask): Params => ({
  createdAt: new Date(createdAt).toISOString(),
  lastUpdatedAt: new Date(updatedAt).toISOString(),
})

/** The first text in the result of a tool that reported an error. */
export function failureText({ content }: Params): string {
  const block = Array.isArray(content) ? content.find((each: unknown) => isObject(each) && typeof each.text === 'string') : undefined
  return statusText(isObject(block) ? (block.text as string) : 'The tool reported an error')
}
