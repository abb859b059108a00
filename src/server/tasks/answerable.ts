/** The questions of a task that a client can answer. The others wait, until the end of the task's time, for a client that can. */

import type { Params } from '../../jsonrpc/message.ts'
import type { McpError } from '../../protocol/errors.ts'
import type { TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { InputRequest } from '../../protocol/model/input-required.ts'
import type { ClientCapabilities } from '../../protocol/model/lifecycle.ts'
import { NEEDED_CAPABILITIES } from '../../protocol/model/tasks.ts'
import { capabilityError } from '../input/asker.ts'
import { needsOf } from '../input/question.ts'

/** What a client lacks to answer a question; undefined if it lacks nothing. */
export const lacking = (request: InputRequest, capabilities: ClientCapabilities, name?: string): McpError | undefined =>
  capabilityError(needsOf(request), { name, capabilities })

/** What a client that asks for a task is told about its questions. */
export interface ShownQuestions {
  /** The questions that the client can answer. */
  questions: Record<string, InputRequest>
  /** Whether the task waits for an answer. */
  isWaiting: boolean
  /** Members of the task for a client that cannot answer all of its questions. */
  note: Params
}

/** An answer that another process received counts, although the process that runs the task has not read it yet. */
export function questionsFor({ tool, questions, received }: TaskRecord, capabilities?: ClientCapabilities): ShownQuestions {
  const open = Object.entries(questions).filter(([name]) => !Object.hasOwn(received, name))
  const shown: ShownQuestions = { questions: {}, isWaiting: open.length > 0, note: {} }
  for (const [name, request] of open) {
    const error = capabilities && lacking(request, capabilities, tool)
    if (!error) shown.questions[name] = request
    else
      shown.note = {
        statusMessage: `${error.message}. The task waits for a client that can`,
        _meta: { [NEEDED_CAPABILITIES]: (error.data as Params).requiredCapabilities },
      }
  }
  return shown
}
