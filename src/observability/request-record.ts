/** The record of one request: who asked for what, how it ended, and how long it took. */

import { isObject } from '../base/json.ts'
import { type Id, INTERNAL_ERROR } from '../jsonrpc/message.ts'
import type { EndCause } from '../protocol/interfaces/service.ts'
import { referenceIn } from '../protocol/internal-error.ts'
import { METHODS } from '../protocol/methods.ts'

/**
 * How a request ended.
 * - `ok`: with a result
 * - `tool_error`: with the result of a tool that failed on purpose, or got wrong arguments
 * - `tool_crash`: with the result of a tool that failed with an error of your code. `reference` finds the error
 * - `input_required`: with questions to the client, which asks again with the answers
 * - `error`: with an error, or without an answer because the server ended it. `reason` is then `replica_lost`, `store_down` or `shutdown`
 * - `cancelled`: without an answer, because the client cancelled it or disconnected
 * - `handed_over`: not here, because the server ended. Another replica runs it again, and has a record of it, too
 */
export type Outcome = 'ok' | 'tool_error' | 'tool_crash' | 'input_required' | 'error' | 'cancelled' | 'handed_over'

/** One request, after its answer was sent. It contains no arguments, no results and no credentials. */
export interface RequestRecord {
  /** The id that the client chose. Other clients may use the same one. */
  readonly id: Id
  /** The method, such as `tools/call`. */
  readonly method: string
  /** The tool, prompt or URI of the request, as the client wrote it; at most 200 characters. */
  readonly target: string | undefined
  /** The verified caller. Undefined without authentication. */
  readonly principal: string | undefined
  /** The address of the client. Undefined if the transport has none. */
  readonly address: string | undefined
  /** How the client describes itself, as `name/version`. Not verified. */
  readonly client: string | undefined
  /** The protocol revision. Undefined if the client and the server did not agree on one. */
  readonly revision: string | undefined
  readonly outcome: Outcome
  /** The code of the error, for the outcome `error`. */
  readonly code: number | undefined
  /** The reason in the data of the error, such as `rate-limited`, or why the server ended the request. */
  readonly reason: string | undefined
  /** The limit that was reached, such as `toolCalls`. */
  readonly limit: string | undefined
  /** The reference that the client got instead of the text of an error. `onError` of `createServer` gets the error with the same one. */
  readonly reference: string | undefined
  /** Milliseconds from the arrival of the message until its answer was written; in a batch, until this answer was ready. */
  readonly durationMs: number
  /** The size of the message. Undefined if the transport does not measure it, and for all requests of a batch but the first. */
  readonly requestBytes: number | undefined
  /** The size of the answer. */
  readonly responseBytes: number
  /** The id of the trace that the client sent in `_meta`. */
  readonly traceId: string | undefined
}

/** The part of a record that the answer determines. */
export type Ending = Pick<RequestRecord, 'outcome' | 'code' | 'reason' | 'limit' | 'reference'>

export const OK: Ending = { outcome: 'ok', code: undefined, reason: undefined, limit: undefined, reference: undefined }

/** How a request without an answer ended. */
export const endedBy = (cause: EndCause | undefined): Ending =>
  cause === undefined || cause === 'handed_over'
    ? { ...OK, outcome: cause ?? 'cancelled' }
    : { ...OK, outcome: 'error', code: INTERNAL_ERROR, reason: cause }

/**
 * How an answer ended its request. Only answers that may not be an ordinary result are parsed: the text of a member occurs in JSON only
 * as that member, because quotes inside of strings are escaped.
 */
export function endingOf(method: string, json: string, errorCode: number | undefined): Ending {
  if (errorCode !== undefined) return failed(JSON.parse(json) as unknown)
  // Only these methods run the author's code.
  if (!METHODS.get(method)?.mayAsk) return OK
  if (!json.includes('"isError":true') && !json.includes('"resultType":"input_required"')) return OK
  return endingOfMessage(JSON.parse(json) as unknown)
}

/** The same for an answer that is parsed already, such as one of a batch. */
export function endingOfMessage(message: unknown): Ending {
  if (!isObject(message) || !isObject(message.result)) return failed(message)
  const { isError, resultType, content } = message.result
  if (isError === true) {
    const first: unknown = Array.isArray(content) ? content[0] : undefined
    const reference = isObject(first) ? referenceIn(first.text) : undefined
    return { ...OK, outcome: reference === undefined ? 'tool_error' : 'tool_crash', reference }
  }
  return resultType === 'input_required' ? { ...OK, outcome: 'input_required' } : OK
}

function failed(message: unknown): Ending {
  const error = isObject(message) && isObject(message.error) ? message.error : {}
  const data = isObject(error.data) ? error.data : {}
  return {
    outcome: 'error',
    code: typeof error.code === 'number' ? error.code : undefined,
    reason: word(data.reason),
    limit: word(data.limit),
    reference: referenceIn(error.message),
  }
}

const word = (value: unknown): string | undefined => (typeof value === 'string' ? value.slice(0, 100) : undefined)
