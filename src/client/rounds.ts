/** Calls in rounds: answers the questions in a result and repeats the call, until there is a final result. */

import { isObject } from '../base/json.ts'
import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import type { InputRequest } from '../protocol/model/input-required.ts'
import type { Answerer, Asking } from './answer-server.ts'

/** Questions in one round. They are answered at the same time, and a person cannot answer more; rates limit how often a person is asked. */
const MAX_QUESTIONS = 32

/** Rounds of questions in one call. A server that asks more often probably asks the same again. */
const MAX_ROUNDS = 10

/**
 * @param first the result of the first call
 * @param send repeats the call with these additional parameters
 */
export async function runRounds(
  method: string,
  first: Params,
  send: (additions: Params) => Promise<Params>,
  answerer: Answerer,
  asking: Asking,
): Promise<Params> {
  let result = first
  for (let round = 1; result.resultType === 'input_required'; round++) {
    if (round > MAX_ROUNDS) throw new McpError('ERR_LIMIT', `${method} asked questions in more than ${MAX_ROUNDS} rounds`)
    const { inputRequests, requestState } = result
    const additions: Params = {}
    if (inputRequests !== undefined) additions.inputResponses = await answerAll(method, inputRequests, answerer, asking)
    // The state goes back to the server unchanged, if it sent one.
    if (typeof requestState === 'string') additions.requestState = requestState
    if (Object.keys(additions).length === 0)
      throw new McpError('ERR_ANSWER_INVALID', `${method} asks for input without inputRequests or requestState`)
    result = await send(additions)
  }
  // A result that depends on answers must not be cached. For a task the member means something else.
  return 'ttlMs' in result && result.resultType !== 'task' ? { ...result, ttlMs: 0 } : result
}

async function answerAll(method: string, requests: unknown, answerer: Answerer, asking: Asking): Promise<Params> {
  const questions = questionsIn(method, requests)
  return Object.fromEntries(
    await Promise.all(questions.map(async ([key, request]) => [key, await answerer.answer(request, asking)] as const)),
  )
}

/** The questions in an answer, by key. Throws if they are malformed or too many. */
export function questionsIn(method: string, requests: unknown): [string, InputRequest][] {
  if (!isObject(requests)) throw new McpError('ERR_ANSWER_INVALID', `${method}: malformed inputRequests`)
  const entries = Object.entries(requests)
  if (entries.length > MAX_QUESTIONS)
    throw new McpError('ERR_LIMIT', `${method} asks ${entries.length} questions at once, more than ${MAX_QUESTIONS}`)
  for (const [key, request] of entries)
    if (!isObject(request) || typeof request.method !== 'string')
      throw new McpError('ERR_ANSWER_INVALID', `${method}: malformed question ${JSON.stringify(key)}`)
  return entries as [string, InputRequest][]
}
