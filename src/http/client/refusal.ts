/** Judges a response that is no answer: the server's own word, something in its way, or a server older than the request. */

import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http'
import { type ErrorMessage, type Id, METHOD_NOT_FOUND } from '../../jsonrpc/message.ts'
import { ANSWER_BOUNDS, read } from '../../jsonrpc/read.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { McpError } from '../../protocol/errors.ts'
import { isModernError } from '../../revisions/negotiate.ts'
import { excerpt } from './faults.ts'

export interface RefusedResponse {
  /** Names the server in errors. */
  server: string
  status: number
  headers: IncomingHttpHeaders
  body: string
  method: string
  /** Of the request that was refused; undefined for a message that is owed no answer. */
  id: Id | undefined
  /** It was sent in a session that the server had given an id. */
  hadSession: boolean
}

export type Refusal =
  /** The server answered the request, with an error. */
  | { kind: 'said'; message: ErrorMessage }
  /** The session is gone; the request was not looked at. */
  | { kind: 'forgotten' }
  /** Nothing here understands the request; an older way may work. `said` is what to report if it does not. */
  | { kind: 'unknown'; fault: McpError; said: ErrorMessage | undefined }
  | { kind: 'refused'; fault: McpError }

/** The requests that find out what is there. */
const OPENING = new Set(['server/discover', 'initialize'])
export const isOpening = (method: string): boolean => OPENING.has(method)
/** Who asks, how often, or whether anybody is in: that would be the same with another protocol. */
const BARRED = new Set([401, 403, 407, 408, 429, 502, 503, 504])

export function judgeRefusal(response: RefusedResponse): Refusal {
  const { status, method, id, hadSession } = response
  const said = errorIn(response.body)
  const isNamed = said !== undefined && said.id !== undefined && said.id === id
  if (status === 404 && hadSession && !(isNamed && said.error.code === METHOD_NOT_FOUND)) return { kind: 'forgotten' }
  const opens = isOpening(method)
  if (BARRED.has(status) || (method === 'initialize' && status >= 500)) return { kind: 'refused', fault: statusFault(response, said) }
  const own = said && id !== undefined && (isNamed || said.id === undefined) ? { ...said, id } : undefined
  // Servers refuse what they do not know with all kinds of statuses. Some fail at a first request that is no handshake.
  const mayBeOlder = opens && status >= 400
  // A server with sessions of its own refuses a handshake by name; what has no name may come from an older one.
  if (mayBeOlder && (!own || (method === 'initialize' && !isNamed && !isModernError(own.error.code)))) {
    return { kind: 'unknown', fault: statusFault(response, said, 'ERR_NO_ENDPOINT'), said: own }
  }
  return own ? { kind: 'said', message: own } : { kind: 'refused', fault: statusFault(response, said) }
}

/** The JSON-RPC error in a body, if that is what it is. */
function errorIn(body: string): ErrorMessage | undefined {
  if (!/^\s*\{/.test(body)) return undefined
  const message = read(body, ANSWER_BOUNDS)
  return message.kind === 'error' ? message : undefined
}

function statusFault(
  { server, status, headers, body, method }: RefusedResponse,
  said: ErrorMessage | undefined,
  code: 'ERR_HTTP' | 'ERR_NO_ENDPOINT' = 'ERR_HTTP',
): McpError {
  const words = said?.error.message ?? (body.trim() === '' || /^\s*</.test(body) ? undefined : body.trim())
  const reason = words === undefined ? '' : `: ${excerpt(words)}`
  const retryAfterMs = retryAfterIn(headers['retry-after'])
  return new McpError(code, `${server} answered ${method} with HTTP ${statusName(status)}${reason}`, {
    data: retryAfterMs === undefined ? { status } : { status, retryAfterMs },
    cause: said && new RemoteError(said.error),
  })
}

export const statusName = (status: number): string => `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()

/** Seconds, or a date. */
export function retryAfterIn(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
