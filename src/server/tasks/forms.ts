/** The two forms of a task on the wire. */

import { isObject } from '../../base/json.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { RELATED_TASK } from '../../protocol/model/tasks.ts'
import type { TaskRecord } from './task-record.ts'

export const relatedTo = (taskId: string): Params => ({ [RELATED_TASK]: { taskId } })

/** The longest text of a status. People read it, and every poll carries it. */
const MAX_STATUS_CHARS = 500

export const statusText = (text: string): string => (text.length > MAX_STATUS_CHARS ? `${text.slice(0, MAX_STATUS_CHARS)}...` : text)

/** A task in a revision where clients ask for tasks. A tool result with `isError` is a failure there. */
export function requestedTask(task: TaskRecord): Params {
  const result = task.outcome && 'result' in task.outcome ? task.outcome.result : undefined
  const failure = result?.isError === true ? { status: 'failed', statusMessage: textOf(result) } : undefined
  const { statusMessage = failure?.statusMessage } = task
  return {
    taskId: task.taskId,
    status: failure?.status ?? task.status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    ...times(task),
    ttl: task.ttlMs,
    pollInterval: task.pollIntervalMs,
  }
}

/** A task in the extension. */
export function extensionTask(task: TaskRecord): Params {
  const { taskId, status, statusMessage, ttlMs, pollIntervalMs } = task
  return { taskId, status, ...(statusMessage === undefined ? {} : { statusMessage }), ...times(task), ttlMs, pollIntervalMs }
}

/** A task in the extension, with its questions, its result or its error. */
export function detailedTask(task: TaskRecord): Params {
  const { status, questions, outcome } = task
  const whole = extensionTask(task)
  if (status === 'input_required') return { ...whole, inputRequests: questions }
  // The result says what kind it is, also if the call was made in a revision without kinds.
  return outcome && 'result' in outcome ? { ...whole, result: { resultType: 'complete', ...outcome.result } } : { ...whole, ...outcome }
}

const times = ({ createdAt, updatedAt }: TaskRecord): Params => ({
  createdAt: new Date(createdAt).toISOString(),
  lastUpdatedAt: new Date(updatedAt).toISOString(),
})

/** The first text in a tool result. */
function textOf({ content }: Params): string {
  const block = Array.isArray(content) ? content.find((each: unknown) => isObject(each) && typeof each.text === 'string') : undefined
  return statusText(isObject(block) ? (block.text as string) : 'The tool reported an error')
}
