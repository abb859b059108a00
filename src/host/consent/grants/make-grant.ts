/** From the answer of a person to the grant it means. */

import { randomUUID } from 'node:crypto'
import type { Action } from '../../model/action.ts'
import { digestOf } from '../../model/digest.ts'
import { type ArgumentPredicate, GRANT_SCOPES, type Grant, type GrantScope } from '../../model/grant.ts'
import type { Answer } from '../../model/question.ts'
import type { GrantBounds } from '../grant-bounds.ts'

export interface MakeGrantOptions {
  bounds: GrantBounds
  /** The person must be asked each time: whatever they chose, it is for this time. */
  isForced: boolean
  /** Milliseconds of the wall clock. */
  now: number
  by: string
}

const HOUR_MS = 60 * 60_000

/** How long a yes holds at most that ends with a conversation: some never end. What outlives it holds for as long as the rules say. */
const PASSING_TTL_MS: Partial<Record<GrantScope, number>> = { once: HOUR_MS / 4, turn: HOUR_MS, session: 24 * HOUR_MS }

/** @param action with the arguments as the person left them, if they edited them */
export function makeGrant(action: Action, answer: Extract<Answer, { kind: 'allow' }>, options: MakeGrantOptions): Grant {
  const { bounds, isForced, now, by } = options
  const scope = isForced ? 'once' : scopeWithin(answer.scope, bounds.scopes)
  const usesLeft = scope === 'once' ? 1 : bounds.maxUses
  return {
    id: randomUUID(),
    action: action.kind,
    scope,
    expiresAt: now + Math.min(PASSING_TTL_MS[scope] ?? Number.POSITIVE_INFINITY, bounds.maxTtlMs),
    ...(usesLeft !== undefined && { usesLeft }),
    bind: {
      server: action.server.id,
      fingerprint: action.server.fingerprint,
      ...(action.primitive && { primitive: action.primitive.name }),
      ...(action.primitive?.pin !== undefined && { pin: action.primitive.pin }),
      args: scope === 'once' ? exactly(action) : predicateOf(action, answer),
      principal: action.principal,
      ...(scope !== 'project' && scope !== 'always' && { run: action.run }),
      ...(scope === 'turn' && { turn: action.turn }),
      ...(scope === 'project' && { project: action.project }),
    },
    by,
    at: now,
  }
}

/** The widest that may be chosen and is no wider than what was chosen. */
function scopeWithin(chosen: GrantScope, offered: readonly GrantScope[]): GrantScope {
  const upTo = GRANT_SCOPES.slice(0, GRANT_SCOPES.indexOf(chosen) + 1)
  return upTo.findLast((scope) => offered.includes(scope)) ?? 'once'
}

function predicateOf(action: Action, { width, pattern }: Extract<Answer, { kind: 'allow' }>): ArgumentPredicate {
  if (width === 'any') return { kind: 'any' }
  // A pattern without conditions would be any arguments, and nobody chose that.
  if (width === 'pattern' && pattern && Object.keys(pattern).length > 0) return { kind: 'pattern', args: pattern }
  return exactly(action)
}

const exactly = ({ args }: Action): ArgumentPredicate => ({ kind: 'exact', digest: digestOf(args) })
