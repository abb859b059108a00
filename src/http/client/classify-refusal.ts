/** Classifies a response with an error status: an error of the server, of something in between, or a server of an older revision. */

import type { IncomingHttpHeaders } from 'node:http'
import { isObject } from '../../base/json.ts'
import { type ErrorMessage, type Id, METHOD_NOT_FOUND } from '../../jsonrpc/message.ts'
import { ANSWER_BOUNDS, read } from '../../jsonrpc/read.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { McpError } from '../../protocol/errors.ts'
import { isModernError } from '../../revisions/negotiate.ts'
import { excerpt } from './errors.ts'
import { STATUS_NAMES } from './status-names.ts'

export interface RefusedResponse {
  /** Names the server in errors. */
  server: string
  status: number
  headers: IncomingHttpHeaders
  body: string
  method: string
  /** The id of the refused request; undefined for a message that gets no answer. */
  id: Id | undefined
  /** Whether the request was sent with a session id. */
  hasSession: boolean
}

export type ClassifiedRefusal =
  /** The server answered the request with a JSON-RPC error. */
  | { kind: 'error'; message: ErrorMessage }
  /** The server no longer knows the session and did not process the request. */
  | { kind: 'session-gone' }
  /** The server did not understand the request; an older transport may work. `error` is the answer if it does not. */
  | { kind: 'not-understood'; fault: McpError; error: ErrorMessage | undefined }
  | { kind: 'refused'; fault: McpError }

/** The requests that find out which revision a server speaks. */
const OPENING = new Set(['server/discover', 'initialize'])
export const isOpening = (method: string): boolean => OPENING.has(method)
/** Statuses that another protocol revision would not change: authorization, rate limits, and a server that is down. */
const BARRED = new Set([401, 403, 407, 408, 429, 502, 503, 504])

export function classifyRefusal(response: RefusedResponse): ClassifiedRefusal {
  const { status, method, id, hasSession } = response
  const answered = errorIn(response.body)
  const isNamed = answered !== undefined && answered.id !== undefined && answered.id === id
  if (status === 404 && hasSession && !(isNamed && answered.error.code === METHOD_NOT_FOUND)) return { kind: 'session-gone' }
  const opens = isOpening(method)
  if (BARRED.has(status) || (method === 'initialize' && status >= 500)) return { kind: 'refused', fault: statusFault(response, answered) }
  const own = answered && id !== undefined && (isNamed || answered.id === undefined) ? { ...answered, id } : undefined
  // Servers refuse an unknown method with many different statuses. Some fail when the first request is not `initialize`.
  const mayBeOlder = opens && status >= 400
  // A server with sessions refuses `initialize` with an error that names the request. An error without an id may come from an older one.
  if (mayBeOlder && (!own || (method === 'initialize' && !isNamed && !isModernError(own.error.code)))) {
    return { kind: 'not-understood', fault: statusFault(response, answered, 'ERR_NO_ENDPOINT'), error: own }
  }
  return own ? { kind: 'error', message: own } : { kind: 'refused', fault: statusFault(response, answered) }
}

/** The JSON-RPC error in a body; undefined when the body is anything else. */
function errorIn(body: string): ErrorMessage | undefined {
  if (!/^\s*\{/.test(body)) return undefined
  const message = read(body, ANSWER_BOUNDS)
  return message.kind === 'error' ? message : undefined
}

function statusFault(
  { server, status, headers, body, method }: RefusedResponse,
  answered: ErrorMessage | undefined,
  code: 'ERR_HTTP' | 'ERR_NO_ENDPOINT' = 'ERR_HTTP',
): McpError {
  const text = `${server} answered ${method} with HTTP ${statusName(status)}${wordsIn(body, answered)}`
  const cause = answered && new RemoteError(answered.error)
  if (status === 401) return unauthorizedFault(text, headers['www-authenticate'], cause)
  const retryAfterMs = retryAfterIn(headers['retry-after'])
  return new McpError(code, text, {
    data: { status, ...(retryAfterMs !== undefined && { retryAfterMs }), ...reasonIn(answered?.error.data) },
    cause,
  })
}

/** What the body of a refusal says, for the end of a sentence. */
export function wordsIn(body: string, answered = errorIn(body)): string {
  const words = answered?.error.message ?? (body.trim() === '' || /^\s*</.test(body) ? undefined : body.trim())
  return words === undefined ? '' : `: ${excerpt(words)}`
}

/** Our own servers name the header of their API keys. */
const KEY_HEADER = /\bApiKey header="([a-z0-9-]{1,64})"/i

/** How a server says that it has got credentials (RFC 6750): unknown, wrong or expired. Without credentials a challenge has no error. */
const REFUSED_KEY = /\berror="invalid_token"/i

/**
 * The server wants other credentials. Its challenge says whether they come from a login, and whether it has got some. `refusal` is the message
 * without the advice.
 */
function unauthorizedFault(text: string, challenge = '', cause?: RemoteError): McpError {
  const header = KEY_HEADER.exec(challenge)?.[1] ?? 'authorization'
  const hasLogin = /\bresource_metadata=/i.test(challenge)
  const isKeyRefused = !hasLogin && REFUSED_KEY.test(challenge)
  const advice = hasLogin
    ? 'Its tokens come from a login (auth: oauth() of portico/auth)'
    : isKeyRefused
      ? `It did not accept the key in the header ${header}`
      : `Send its key with http: { headers: { '${header}': '${header === 'authorization' ? 'Bearer KEY' : 'KEY'}' } }`
  const data = { reason: 'refused', status: 401, header, refusal: text, ...(isKeyRefused && { isKeyRefused }) }
  return new McpError('ERR_AUTH', `${text}. ${advice}`, { data, cause })
}

/** Why the server refused, and whether the same request may succeed later, if it says so. */
function reasonIn(data: unknown): { reason?: string; retryable?: boolean } {
  if (!isObject(data)) return {}
  const { reason, retryable } = data
  return { ...(typeof reason === 'string' && { reason }), ...(typeof retryable === 'boolean' && { retryable }) }
}

export const statusName = (status: number): string => `${status} ${STATUS_NAMES.get(status) ?? ''}`.trimEnd()

/** The milliseconds of a Retry-After header, which holds seconds or a date. */
export function retryAfterIn(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
