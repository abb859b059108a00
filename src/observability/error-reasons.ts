/** The reasons that Portico gives in the data of its errors, and in records. Authors may give others in theirs. */

import type { EndCause } from '../protocol/interfaces/service.ts'
import type { RequestRecord } from './request-record.ts'

/** The server had to end the request. */
const ENDS: Readonly<Record<Exclude<EndCause, 'handed_over'>, true>> = { replica_lost: true, store_down: true, shutdown: true }

/** A limit refused the request. */
const LIMITS = ['rate-limited', 'limit', 'too-many-requests']

/** With the code of an internal error, which they are not. */
const NOT_INTERNAL = [...LIMITS, ...Object.keys(ENDS)]

const REASONS: ReadonlySet<string> = new Set([...NOT_INTERNAL, 'insufficient_scope'])

/** An error of the author's code. */
const CRASH = 'crash'
const OTHER = 'other'

/** Whether an error with this reason is no fault of the author's code, whatever its code is. */
export const isNoFault = (reason: string | undefined): boolean => reason !== undefined && REASONS.has(reason)

/** The reason of an error as a label of a metric: one of few. Empty: there is none. */
export function reasonLabel({ reason, reference }: Pick<RequestRecord, 'reason' | 'reference'>): string {
  if (reference !== undefined) return CRASH
  if (reason === undefined) return ''
  return REASONS.has(reason) ? reason : OTHER
}

/** The labels that errors with the code of an internal error may have. */
export const INTERNAL_REASONS: readonly string[] = ['', CRASH, OTHER, ...NOT_INTERNAL]
