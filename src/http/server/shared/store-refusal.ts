/** The refusal of a request that the store could not serve. */

import { McpError } from '../../../protocol/errors.ts'
import { type Refusal, refuse, STORE_DOWN } from '../refusal.ts'
import { NOT_FOUND } from '../session/check-request.ts'

/** This replica has other keys than the others, or the store refuses its commands. Another one may answer. */
export const UNUSABLE = refuse(503, 'This replica cannot use the data in the store. Its log says why', {
  kind: STORE_DOWN.kind,
  data: STORE_DOWN.data,
  headers: { 'retry-after': '1' },
})

/** A value that this replica cannot open, or a command that the store refuses: trying again does not help. */
export const isPermanent = (error: unknown): boolean => storeRefusal(error) === UNUSABLE

/** Undefined: an error of the server. */
export function storeRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof McpError)) return undefined
  if (error.code === 'ERR_STORE_DOWN') return STORE_DOWN
  if (error.code === 'ERR_SESSION_GONE') return NOT_FOUND
  if (error.code === 'ERR_STORE_KEY' || error.code === 'ERR_STORE') return UNUSABLE
  // The message names the limit.
  if (error.code === 'ERR_LIMIT') return refuse(503, error.message, { data: { reason: 'limit' }, headers: { 'retry-after': '5' } })
  return undefined
}
