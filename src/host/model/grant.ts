/** A remembered "allow": for which actions, for how long, and by whom. */

import type { ActionKind } from './action.ts'
import type { ArgumentRules } from './rule.ts'

export const GRANT_SCOPES = ['once', 'turn', 'session', 'project', 'always'] as const

/** How long a grant lasts. */
export type GrantScope = (typeof GRANT_SCOPES)[number]

/** The arguments that the grant covers: exact ones, those that match a pattern, or any. */
export type ArgumentPredicate =
  /** `shown` has the arguments in words, without secrets, and shortened. It decides nothing. */
  { kind: 'exact'; digest: string; shown?: string } | { kind: 'pattern'; args: ArgumentRules } | { kind: 'any' }

/** A remembered "allow". */
export interface Grant {
  id: string
  action: ActionKind
  scope: GrantScope
  /** Milliseconds of the wall clock. Undefined: until it is revoked. */
  expiresAt?: number
  /** The number of uses left. Undefined for any number. */
  usesLeft?: number
  bind: {
    server: string
    fingerprint: string
    /** The server's own name of the tool, prompt or resource. Undefined for actions on the whole server. */
    primitive?: string
    /** The pin of the definition that the grant is for. */
    pin?: string
    args: ArgumentPredicate
    principal: string
    /** For the scopes `turn` and `session`. */
    run?: string
    turn?: number
    /** For the scope `project`. */
    project?: string
  }
  by: string
  at: number
}
