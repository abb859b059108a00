/** Which errors mean that an action was refused. */

import { McpError } from '../../protocol/errors.ts'

const REFUSAL_CODES: ReadonlySet<string> = new Set(['ERR_DENIED', 'ERR_CONSENT', 'ERR_QUARANTINED'])

/** Whether the policy or the person refused an action, or no person could be asked about it. */
export const isRefusal = (error: unknown): error is McpError => error instanceof McpError && REFUSAL_CODES.has(error.code)
