/** An error response of the transport: an HTTP status and a JSON-RPC error. */

import { type ErrorObject, type Id, INTERNAL_ERROR, INVALID_REQUEST } from '../../jsonrpc/message.ts'
import { errorJson } from '../../jsonrpc/write.ts'
import type { Headers } from './runtime/request-reply.ts'

export interface Refusal {
  status: number
  message: string
  code?: number
  /** Names the reason in records and metrics, where the status does not. */
  kind?: 'host' | 'origin' | 'auth_unavailable' | 'shutting_down' | 'store_down' | 'unknown_path'
  /** The option of the limit that was reached. */
  limit?: string
  headers?: Headers
  data?: unknown
  /** The id of the refused request, when it could be read. */
  id?: Id
}

export const JSON_TYPE: Headers = { 'content-type': 'application/json' }

export const refuse = (status: number, message: string, more: Omit<Refusal, 'status' | 'message'> = {}): Refusal => ({
  status,
  message,
  ...more,
})

/** A limit was reached: the client may try again later, unless its batch has more `requests` than the limit. */
export function busy(status: 429 | 503, limit: string, max: number, what: string, requests = 1): Refusal {
  const more = { limit, data: { reason: 'limit', limit, max } }
  if (requests > 1 && requests > max) {
    const message = `The batch contains ${requests} requests; at most ${max} may be in progress (limits.${limit})`
    return refuse(400, message, { ...more, code: INVALID_REQUEST })
  }
  const headers = { 'retry-after': status === 429 ? '1' : '5' }
  return refuse(status, `Too many ${what}: at most ${max} (limits.${limit})`, { ...more, code: INTERNAL_ERROR, headers })
}

/** The same for a fixed limit, which no option changes. */
export const busyFixed = (status: 429 | 503, limit: string, max: number, what: string): Refusal => ({
  ...busy(status, limit, max, what),
  message: `Too many ${what}: at most ${max}`,
})

/** The server is shutting down: the client may try again with another instance. */
export const DRAINING = refuse(503, 'The server is shutting down', {
  kind: 'shutting_down',
  data: { reason: 'shutdown', retryable: true },
  headers: { 'retry-after': '5', connection: 'close' },
})

/** The same where other replicas answer at once. */
export const DRAINING_REPLICA: Refusal = { ...DRAINING, headers: { ...DRAINING.headers, 'retry-after': '1' } }

/** The answer to a request of a session that was in progress when the server ended. Without it the client would take 202 for a success. */
export const ENDED: ErrorObject = {
  code: INTERNAL_ERROR,
  message: 'The server has ended before it could answer. Send the request again',
  data: { reason: 'shutdown', retryable: true },
}

/** An error of the server, which the log describes. */
export const INTERNAL = refuse(500, 'Internal error')

/** Nothing is kept in memory instead. */
export const STORE_DOWN = refuse(503, 'The store that the replicas share cannot be reached', {
  kind: 'store_down',
  data: { reason: 'store_down', retryable: true },
  headers: { 'retry-after': '2' },
})

/** The same refusal with the id of a request. */
export const about = (refusal: Refusal, id: Id | undefined): Refusal => (id === undefined ? refusal : { ...refusal, id })

export function refusalJson({ status, message, code, data, id }: Refusal): string {
  const error = { code: code ?? (status >= 500 ? INTERNAL_ERROR : INVALID_REQUEST), message }
  return errorJson(id, data === undefined ? error : { ...error, data })
}
