/** Tasks as the extension shows them. */

import type { Params } from '../../jsonrpc/message.ts'
import type { TaskRecord } from '../../protocol/interfaces/task-record.ts'
import { taskTimes } from '../../protocol/model/kept-task.ts'

/** A task in the extension. */
export function extensionTask(task: TaskRecord): Params {
  const { taskId, status, statusMessage, ttlMs, pollIntervalMs } = task
  return { taskId, status, ...(statusMessage === undefined ? {} : { statusMessage }), ...taskTimes(task), ttlMs, pollIntervalMs }
}

/** A task in the extension, with its questions, its result or its error. */
export function detailedTask(task: TaskRecord): Params {
  const { status, questions, received, outcome } = task
  const whole = extensionTask(task)
  if (status === 'input_required') {
    // An answer that another process received counts, although the process that runs the task has not read it yet.
    const open = Object.entries(questions).filter(([name]) => !Object.hasOwn(received, name))
    return open.length === 0 ? { ...whole, status: 'working' } : { ...whole, inputRequests: Object.fromEntries(open) }
  }
  // The result says what kind it is, also if the call was made in a revision without kinds.
  return outcome && 'result' in outcome ? { ...whole, result: { resultType: 'complete', ...outcome.result } } : { ...whole, ...outcome }
}
