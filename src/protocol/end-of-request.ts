/** Why a request ends before it has an answer, as the reason of its signal. */

import { isObject } from '../base/json.ts'
import { McpError } from './errors.ts'
import type { EndCause } from './interfaces/service.ts'

/** The reason when a connection, a session or the server ends. Without a cause the other side ends it. */
export const closedBy = (text: string, cause: EndCause | undefined): McpError =>
  new McpError('ERR_CLOSED', text, cause && { data: { reason: cause } })

/** Who ended the request: its sender, or why the server did. Undefined: it has not ended, and is only late or suspended. */
export function endOf(reason: unknown): 'sender' | EndCause | undefined {
  if (!(reason instanceof Error)) return undefined
  if (reason.name === 'AbortError') return 'sender'
  if (!(reason instanceof McpError) || reason.code !== 'ERR_CLOSED') return undefined
  return ((isObject(reason.data) && reason.data.reason) || 'sender') as 'sender' | EndCause
}
