/** Completion: suggestions for an argument of a prompt or a variable of a resource template. */

import type { Result } from './base.ts'
import { methodRows } from './method.ts'

export type CompletionReference = { type: 'ref/prompt'; name: string; title?: string } | { type: 'ref/resource'; uri: string }

/** A request for suggestions. */
export interface CompleteParams {
  ref: CompletionReference
  argument: { name: string; value: string }
  /** Arguments that already have a value. */
  context?: { arguments?: Record<string, string> }
}

/** Suggestions for an argument. */
export interface Completion {
  /** At most 100, best first. */
  values: string[]
  total?: number
  hasMore?: boolean
}

export interface CompleteResult extends Result {
  completion: Completion
}

export const MAX_COMPLETION_VALUES = 100

export const completionMethods = methodRows([{ method: 'completion/complete', kind: 'request', from: 'client', capability: 'completions' }])
