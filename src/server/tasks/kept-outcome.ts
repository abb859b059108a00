/** The outcomes of tasks as they are kept: within limits, or the reason why the outcome is missing. */

import { INTERNAL_ERROR } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import type { TaskOutcome } from '../../protocol/model/kept-task.ts'

export const STOPPED: TaskOutcome = { error: { code: INTERNAL_ERROR, message: 'The server stopped while the task was running' } }

/** The outcome of a task whose process died. The call may be sent again. */
export const LOST: TaskOutcome = { error: { ...STOPPED.error, data: { reason: 'replica_lost', retryable: true } } }

/** How many processes run a task. A handler that ends its process each time must not end all. */
export const MAX_RUNS = 3

/** The outcome of a task whose processes all died. */
export const HAD_ALL_RUNS: TaskOutcome = {
  error: {
    code: INTERNAL_ERROR,
    message: `Each of the ${MAX_RUNS} processes that ran the task has ended`,
    data: { reason: 'replica_lost', retryable: false },
  },
}

/** The outcome, or an error if it takes more than `max` characters. */
export function withinLimit(outcome: TaskOutcome, max: number): TaskOutcome {
  const chars = JSON.stringify(outcome).length
  if (chars <= max) return outcome
  const message = `The result of the task takes ${chars} characters as JSON; at most ${max} (limits.maxTaskBytes)`
  return { error: { code: INTERNAL_ERROR, message, data: { reason: 'limit', limit: 'maxTaskBytes', max } } }
}

/** The error about answers and steps that take too much room. */
export const answersTooLarge = (chars: number, max: number): McpError =>
  new McpError('ERR_LIMIT', `The answers and steps of this task take ${chars} characters; at most ${max} (limits.maxTaskBytes)`, {
    data: { reason: 'limit', limit: 'maxTaskBytes', max },
  })

export const isLimit = (error: unknown): error is McpError => error instanceof McpError && error.code === 'ERR_LIMIT'

/** Whether an error says that an answer cannot be used. */
export const isRefusal = (error: unknown): boolean => isLimit(error) || (error instanceof McpError && error.code === 'ERR_INVALID_PARAMS')

/** Why a store did not take an outcome. Only the reasons of limits are for clients. */
export function notStored(error: unknown): TaskOutcome {
  const { message, data } = isLimit(error) ? error : { message: 'The result of the task could not be stored' }
  return { error: { code: INTERNAL_ERROR, message, data } }
}
