/** The types of completers: functions that suggest values for an argument of a prompt or a variable of a template. */

import type { Completion } from '../../protocol/model/completion.ts'
import type { Caller } from '../call.ts'

export interface CompletionContext {
  /** Arguments that are settled already. */
  arguments: Record<string, string>
  caller: Caller
  signal: AbortSignal
}

export type Found = readonly string[] | Completion

/** Returns candidates, to be filtered and ranked; or a finished answer, to be passed on. */
export type Completer = (value: string, context: CompletionContext) => Found | Promise<Found>

export type Completers = Record<string, Completer>
