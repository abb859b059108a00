/** Answers that come while the handler does not wait for them here: another process runs it, or it was started again. They are checked and kept. */

import { asText } from '../../base/as-text.ts'
import { isObject } from '../../base/json.ts'
import { type ErrorObject, INTERNAL_ERROR } from '../../jsonrpc/message.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { jsonOf } from '../../jsonrpc/write.ts'
import { McpError } from '../../protocol/errors.ts'
import type { TaskJournal, TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { InputRequest } from '../../protocol/model/input-required.ts'
import { statusText } from '../../protocol/model/kept-task.ts'
import type { JsonSchema } from '../../protocol/schema/json-schema.ts'
import { digestOf } from '../input/journal.ts'
import { describeAnswerIssues, form, page, type Question, rootList, sampling } from '../input/question.ts'
import { answersTooLarge } from './kept-outcome.ts'

/**
 * Throws for an answer that its question does not allow, or that takes too much room: the process that runs the task cannot tell the
 * client any more. Answers to questions that are not open are ignored.
 */
export async function checkReceived(
  { questions, received, journal }: TaskRecord,
  answers: Readonly<Record<string, unknown>>,
  maxChars: number,
): Promise<void> {
  const open = Object.entries(answers).filter(([name]) => Object.hasOwn(questions, name))
  for (const [name, raw] of open) {
    const question = questionOf(questions[name] as InputRequest)
    const read = await question.read(raw)
    if (!read.ok) throw new McpError('ERR_INVALID_PARAMS', describeAnswerIssues(question, read.issues))
  }
  if (open.length === 0) return
  const chars = jsonOf([journal, { ...received, ...Object.fromEntries(open) }]).length
  if (chars > maxChars) throw answersTooLarge(chars, maxChars)
}

/** A question as its request describes it. Its author may check more. */
function questionOf({ method, params }: InputRequest): Question {
  if (method === 'sampling/createMessage') return sampling(params)
  if (method === 'roots/list') return rootList()
  return params.mode === 'url' ? page(params.message, params.url) : form(params.message, { ...params.requestedSchema } as JsonSchema)
}

/** The answers that came while no process ran the task, with the digests of their questions. */
export async function receivedBy({ questions, received }: TaskRecord): Promise<Pick<TaskJournal, 'asked' | 'answers'>> {
  const open = Object.entries(questions).filter(([name]) => Object.hasOwn(received, name))
  const asked = await Promise.all(open.map(async ([name, request]) => [name, await digestOf(request)] as const))
  return { asked: Object.fromEntries(asked), answers: { ...received } }
}

/** An error of a client instead of an answer, as it is kept among the answers. No question allows it as an answer. */
export const refusalOf = (error: unknown): { refusal: ErrorObject } => {
  const { code, message } = error instanceof RemoteError ? error : { code: INTERNAL_ERROR, message: asText(error) }
  return { refusal: { code, message: statusText(message) } }
}

/** The error that `refusalOf` kept; undefined for an answer, which may have any other members. */
export const refusalIn = (received: unknown): RemoteError | undefined =>
  isObject(received) && isObject(received.refusal) && Object.keys(received).length === 1
    ? new RemoteError(received.refusal as unknown as ErrorObject)
    : undefined
