/** The refusal of a request that the store could not serve. */

import { McpError } from '../../../protocol/errors.ts'
import { type Refusal, refuse, STORE_DOWN } from '../refusal.ts'

/** Undefined: an error of the server, which its log must tell. */
export function storeRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof McpError)) return undefined
  if (error.code === 'ERR_STORE_DOWN') return STORE_DOWN
  // The message names the limit.
  if (error.code === 'ERR_LIMIT') return refuse(503, error.message, { data: { reason: 'limit' }, headers: { 'retry-after': '5' } })
  return undefined
}
