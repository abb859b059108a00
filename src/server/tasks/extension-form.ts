/** Tasks as the extension shows them. */

import type { Params } from '../../jsonrpc/message.ts'
import type { TaskRecord } from '../../protocol/interfaces/task-record.ts'
import { taskTimes } from '../../protocol/model/kept-task.ts'
import type { ClientCapabilities } from '../../protocol/model/lifecycle.ts'
import { questionsFor } from './answerable.ts'

/** A task in the extension. */
export function extensionTask(task: TaskRecord): Params {
  const { taskId, status, statusMessage, ttlMs, pollIntervalMs } = task
  return { taskId, status, ...(statusMessage === undefined ? {} : { statusMessage }), ...taskTimes(task), ttlMs, pollIntervalMs }
}

/**
 * A task in the extension, with its questions, its result or its error.
 *
 * @param capabilities those of the client; undefined: with all questions
 */
export function detailedTask(task: TaskRecord, capabilities?: ClientCapabilities): Params {
  const { status, outcome } = task
  const whole = extensionTask(task)
  if (status === 'input_required') {
    const { questions, isWaiting, note } = questionsFor(task, capabilities)
    return isWaiting ? { ...whole, ...note, inputRequests: questions } : { ...whole, status: 'working' }
  }
  // The result says what kind it is, also if the call was made in a revision without kinds.
  return outcome && 'result' in outcome ? { ...whole, result: { resultType: 'complete', ...outcome.result } } : { ...whole, ...outcome }
}
