/** Which errors of a handler are faults of its code. Their text stays on the server, and the caller gets a reference. */

import { RemoteError } from '../jsonrpc/remote-error.ts'
import { ERRORS, McpError } from './errors.ts'

export const isForPeer = (error: unknown): error is McpError => error instanceof McpError && 'isForPeer' in ERRORS[error.code]

/** The person did not answer a question. */
const PERSONS_ANSWERS: ReadonlySet<string> = new Set(['Declined', 'Cancelled'])
/** Errors whose text a tool says to the model. */
const SAID_BY_TOOLS: ReadonlySet<string> = new Set(['ToolError', ...PERSONS_ANSWERS])

/** Whether the author, or the person, threw this error so that the caller of the method reads it. */
export const isSaidOnPurpose = (error: unknown, method: string): error is Error =>
  error instanceof Error && (method === 'tools/call' ? SAID_BY_TOOLS : PERSONS_ANSWERS).has(error.name)

export function isFaultOfCode(error: unknown, method: string): boolean {
  if (isSaidOnPurpose(error, method) || isForPeer(error)) return false
  if (error instanceof McpError) return error.code !== 'ERR_STORE_DOWN'
  // A client that refused what a tool asked for.
  return !(error instanceof RemoteError && method === 'tools/call')
}
