/** Reads messages: the only place where JSON text from a peer is parsed. */

import { isObject } from '../base/json.ts'
import { envelopeOf } from './envelope.ts'
import {
  type ErrorObject,
  type Id,
  INVALID_PARAMS,
  INVALID_REQUEST,
  type Incoming,
  isId,
  PARSE_ERROR,
  type Params,
  type SingleMessage,
} from './message.ts'
import { type ScanBounds, scan, type Tally } from './scan.ts'

export interface ReadBounds extends ScanBounds {
  /** The maximum number of messages in a batch. */
  maxBatch: number
}

/** Deeper, wider and longer messages than these cost more to check than any call needs. Only `maxValues` is an option. */
export const DEFAULT_READ_BOUNDS: ReadBounds = { maxDepth: 64, maxKeys: 10_000, maxValues: 100_000, maxBatch: 50 }

/** For clients: answers contain long lists of schemas, which are deeper and larger than any request. */
export const ANSWER_BOUNDS: ReadBounds = { ...DEFAULT_READ_BOUNDS, maxDepth: 256, maxValues: 1_000_000 }

/** `ANSWER_BOUNDS` with another limit on the number of values. */
export const answerBounds = (maxValues = ANSWER_BOUNDS.maxValues): ReadBounds =>
  maxValues === ANSWER_BOUNDS.maxValues ? ANSWER_BOUNDS : { ...ANSWER_BOUNDS, maxValues }

/** The default maximum length of a message on a transport that sends lines. */
export const DEFAULT_MAX_LINE_BYTES = 10 * 1024 * 1024

/**
 * Reads the message in `text` from `from` to `to`. Never throws: invalid text is `malformed` (answered with an error) or
 * `ignored` (not answered).
 * @param tally receives the number of values in a valid message
 */
export function read(text: string, bounds: ReadBounds, from = 0, to = text.length, tally?: Tally): Incoming {
  const flaw = scan(text, bounds, from, to, tally)
  const message = text.length === to - from ? text : text.slice(from, to)
  if (flaw) return refused(message, flaw)
  let value: unknown
  try {
    value = JSON.parse(message)
  } catch {
    return unparsed(message)
  }
  if (!Array.isArray(value)) return classify(value)
  if (value.length === 0) return malformed(undefined, INVALID_REQUEST, 'An empty array is not a message')
  if (value.length > bounds.maxBatch) {
    return malformed(
      undefined,
      INVALID_REQUEST,
      `The batch contains ${value.length} messages; at most ${bounds.maxBatch} are accepted (maxBatch)`,
    )
  }
  return { kind: 'batch', messages: value.map(classify) }
}

/** A message that `scan` rejected is not parsed. Its kind decides whether it gets an error answer. */
function refused(text: string, flaw: ErrorObject): SingleMessage {
  const { kind, id, otherId } = envelopeOf(text)
  if (kind === 'response' && otherId !== undefined) return { kind: 'ignored', reason: flaw.message, id, otherId }
  if (kind === 'notification' || kind === 'response') return { kind: 'ignored', reason: flaw.message, id }
  return { kind: 'malformed', id, error: flaw, isRequest: kind === 'request' }
}

/** For text that is not JSON. If it looks like an answer, for example one with NaN in it, the request fails now instead of timing out. */
function unparsed(text: string): SingleMessage {
  const reason = 'The message is not valid JSON'
  if (VERSIONED.test(text)) {
    const { kind, id } = envelopeOf(text)
    if (kind === 'response' && id !== undefined) return { kind: 'ignored', reason, id }
  }
  return malformed(undefined, PARSE_ERROR, reason)
}

/** Distinguishes a message from a log line that has an id. */
const VERSIONED = /"jsonrpc"\s*:\s*"2\.0"/

/** Classifies a parsed value. Member names are case-sensitive. */
export function classify(value: unknown): SingleMessage {
  if (!isObject(value)) return malformed(undefined, INVALID_REQUEST, `A message must be a JSON object, not ${nameOf(value)}`)
  const { id, method } = value
  if (method === undefined) return classifyResponse(value)
  const hasId = id !== undefined
  const fault = checkRequest(value)
  if (fault) {
    if (!hasId && typeof method === 'string') return { kind: 'ignored', reason: fault.message }
    return { kind: 'malformed', id: isId(id) ? id : undefined, error: fault, isRequest: true }
  }
  const params = value.params as Params | undefined
  if (!hasId) return { kind: 'notification', method: method as string, params }
  return { kind: 'request', id: id as Id, method: method as string, params }
}

/** Returns the first thing that is wrong with a request or notification. */
function checkRequest(value: Params): ErrorObject | undefined {
  const { jsonrpc, id, method, params } = value
  if (jsonrpc !== '2.0') return invalid(`"jsonrpc" must be "2.0", not ${shown(jsonrpc)}`)
  if (typeof method !== 'string') return invalid(`"method" must be a string, not ${nameOf(method)}`)
  if (id !== undefined && !isId(id)) return invalid(`"id" must be a string or an integer, not ${nameOf(id)}`)
  if (params === undefined || isObject(params)) return undefined
  if (Array.isArray(params)) return { code: INVALID_PARAMS, message: '"params" must be an object, not an array' }
  return invalid(`"params" must be an object, not ${nameOf(params)}`)
}

function classifyResponse(value: Params): SingleMessage {
  const { jsonrpc, id, result, error } = value
  // Servers in some languages write both members, with null for the absent one.
  const hasError = error !== undefined && (error !== null || result === undefined)
  const hasResult = result !== undefined && (result !== null || !hasError)
  const usableId = isId(id) ? id : undefined
  if (!hasResult && !hasError) return malformed(usableId, INVALID_REQUEST, 'A message needs "method", "result" or "error"')
  if (jsonrpc !== '2.0') {
    const reason = `a response without "jsonrpc": "2.0"`
    // Log lines may have an id and an error too, but not of this shape.
    return isObject(result) || isErrorObject(error) ? { kind: 'ignored', reason, id: usableId } : { kind: 'ignored', reason }
  }
  if (hasResult && hasError) return { kind: 'ignored', reason: 'a response with both "result" and "error"', id: usableId }
  if (hasError) {
    if (isErrorObject(error)) return { kind: 'error', id: usableId, error }
    return { kind: 'ignored', reason: `an error without an integer code and a message: ${excerptOf(error)}`, id: usableId }
  }
  if (!isId(id)) return { kind: 'ignored', reason: 'a result without a usable id' }
  if (!isObject(result)) return { kind: 'ignored', reason: `a result that is ${nameOf(result)}, not an object`, id }
  return { kind: 'result', id, result }
}

const EXCERPT_LENGTH = 200

/** The value as short JSON, for an error message. */
function excerptOf(value: unknown): string {
  const json = JSON.stringify(value)
  return json.length > EXCERPT_LENGTH ? `${json.slice(0, EXCERPT_LENGTH - 3)}...` : json
}

const isErrorObject = (value: unknown): value is ErrorObject =>
  isObject(value) && Number.isInteger(value.code) && typeof value.message === 'string'

const invalid = (message: string): ErrorObject => ({ code: INVALID_REQUEST, message })

export const malformed = (id: Id | undefined, code: number, message: string): SingleMessage => ({
  kind: 'malformed',
  id,
  error: { code, message },
  isRequest: false,
})

/** For an error message: a short string as it is, any other value by its type. */
function shown(value: unknown): string {
  if (value === undefined) return 'absent'
  return typeof value === 'string' && value.length <= 20 ? JSON.stringify(value) : nameOf(value)
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
