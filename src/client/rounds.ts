/** Calls that come back with questions: answer them, call again, until there is a result. */

import { isObject } from '../base/json.ts'
import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import type { InputRequest } from '../protocol/model/input-required.ts'
import type { Answerer, Asking } from './answers.ts'
import type { ClientLimits } from './limits.ts'

/**
 * @param first what the call gave the first time
 * @param send makes the call again, with these additions to its parameters
 */
export async function runRounds(
  method: string,
  first: Params,
  send: (additions: Params) => Promise<Params>,
  answerer: Answerer,
  asking: Asking,
  limits: ClientLimits,
): Promise<Params> {
  let result = first
  for (let round = 1; result.resultType === 'input_required'; round++) {
    if (round > limits.maxRounds)
      throw new McpError('ERR_LIMIT', `${method} came back with questions more than ${limits.maxRounds} times (limits.maxRounds)`)
    const { inputRequests, requestState } = result
    const additions: Params = {}
    if (inputRequests !== undefined) additions.inputResponses = await answerAll(method, inputRequests, answerer, asking, limits)
    // Sent back byte for byte, and only if there was one.
    if (typeof requestState === 'string') additions.requestState = requestState
    if (Object.keys(additions).length === 0) throw new McpError('ERR_ANSWER_INVALID', `${method} asks for input without saying which`)
    result = await send(additions)
  }
  // What depends on answers is not what the next caller of the same request would get.
  return 'ttlMs' in result ? { ...result, ttlMs: 0 } : result
}

async function answerAll(method: string, requests: unknown, answerer: Answerer, asking: Asking, limits: ClientLimits): Promise<Params> {
  if (!isObject(requests)) throw new McpError('ERR_ANSWER_INVALID', `${method} asks for input in a form that is none`)
  const entries = Object.entries(requests)
  if (entries.length > limits.maxQuestions)
    throw new McpError(
      'ERR_LIMIT',
      `${method} asks ${entries.length} questions at once, more than ${limits.maxQuestions} (limits.maxQuestions)`,
    )
  const answers = await Promise.all(
    entries.map(async ([key, request]) => {
      if (!isObject(request) || typeof request.method !== 'string')
        throw new McpError('ERR_ANSWER_INVALID', `${method} asks ${JSON.stringify(key)} in a form that is none`)
      return [key, await answerer.answer(request as InputRequest, asking)] as const
    }),
  )
  return Object.fromEntries(answers)
}
