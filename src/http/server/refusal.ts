/** An answer that is an error of the transport: a status, a JSON-RPC error for programs, a sentence for people. */

import { type Id, INTERNAL_ERROR, INVALID_REQUEST } from '../../jsonrpc/message.ts'
import { errorJson } from '../../jsonrpc/write.ts'
import type { Headers } from './runtime/view.ts'

export interface Refusal {
  status: number
  message: string
  code?: number
  /** Names the option that sets the bound that was hit. */
  limit?: string
  headers?: Headers
  data?: unknown
  /** The request that is refused, when it could be read. */
  id?: Id
}

export const JSON_TYPE: Headers = { 'content-type': 'application/json' }

export const refuse = (status: number, message: string, more: Omit<Refusal, 'status' | 'message'> = {}): Refusal => ({
  status,
  message,
  ...more,
})

/** Too much at once: come back later. */
export const busy = (status: 429 | 503, limit: string, max: number, what: string): Refusal => ({
  status,
  message: `Too many ${what}: at most ${max} (limits.${limit})`,
  limit,
  code: INTERNAL_ERROR,
  data: { reason: 'limit', limit, max },
  headers: { 'retry-after': status === 429 ? '1' : '5' },
})

/** Ends soon: come back to whoever is there then. */
export const DRAINING = refuse(503, 'The server is shutting down', { headers: { 'retry-after': '5', connection: 'close' } })

/** The same about one request. */
export const about = (refusal: Refusal, id: Id | undefined): Refusal => (id === undefined ? refusal : { ...refusal, id })

export function refusalJson({ status, message, code, data, id }: Refusal): string {
  const error = { code: code ?? (status >= 500 ? INTERNAL_ERROR : INVALID_REQUEST), message }
  return errorJson(id, data === undefined ? error : { ...error, data })
}
