/** A person's yes, as data: for what exactly, for how long, and who said it. */

import type { ActionKind } from './action.ts'
import type { ArgumentRules } from './rule.ts'

export const GRANT_SCOPES = ['once', 'turn', 'session', 'project', 'always'] as const

export type GrantScope = (typeof GRANT_SCOPES)[number]

/** Which arguments it is for: these very ones, those that fit a pattern, or any. */
export type ArgumentPredicate = { kind: 'exact'; digest: string } | { kind: 'pattern'; args: ArgumentRules } | { kind: 'any' }

export interface Grant {
  id: string
  action: ActionKind
  scope: GrantScope
  /** Milliseconds of the wall clock. */
  expiresAt: number
  /** How often it may still be used; undefined for any number. */
  usesLeft?: number
  bind: {
    server: string
    fingerprint: string
    /** The server's own name of the tool, prompt or resource; undefined for what concerns the server as a whole. */
    primitive?: string
    /** The definition it was given for. */
    pin?: string
    args: ArgumentPredicate
    principal: string
    /** Where scope is `turn` or `session`. */
    run?: string
    turn?: number
    /** Where scope is `project`. */
    project?: string
  }
  by: string
  at: number
}
