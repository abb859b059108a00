/** The types of completers: functions that suggest values for an argument of a prompt or a variable of a template. */

import type { Completion } from '../../protocol/model/completion.ts'
import type { Caller } from '../incoming-call.ts'

/** The second argument of a completer. */
export interface CompletionContext {
  /** Arguments that already have a value. */
  arguments: Record<string, string>
  caller: Caller
  signal: AbortSignal
}

export type Found = readonly string[] | Completion

/**
 * Suggests values for an argument. A list is filtered by the typed text and ranked. A `Completion` is sent unchanged.
 *
 * @example
 * server.prompt('weather', { input: z.object({ city: z.string() }), complete: { city: () => ['Oslo', 'Osaka', 'Rome'] } }, ({ city }) => city)
 */
export type Completer = (value: string, context: CompletionContext) => Found | Promise<Found>

/** Completers by the name of their argument or variable. */
export type Completers<Names extends string = string> = { readonly [Name in Names]?: Completer }

/** The names that can be completed. All names, if they are not known to the compiler. */
export type NamesOf<Values> = string extends keyof Values ? string : Extract<keyof Values, string>
