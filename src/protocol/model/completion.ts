/** Completion: suggestions for the argument of a prompt or a resource template while it is typed. */

import type { Result } from './base.ts'
import { methodRows } from './method.ts'

export type CompletionReference = { type: 'ref/prompt'; name: string; title?: string } | { type: 'ref/resource'; uri: string }

export interface CompleteParams {
  ref: CompletionReference
  argument: { name: string; value: string }
  /** Arguments that are settled already. */
  context?: { arguments?: Record<string, string> }
}

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
