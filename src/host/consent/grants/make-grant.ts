/** Makes a grant from an answer. */

import { randomUUID } from 'node:crypto'
import type { Action } from '../../model/action.ts'
import { digestOf } from '../../model/digest.ts'
import { type ArgumentPredicate, GRANT_SCOPES, type Grant, type GrantScope } from '../../model/grant.ts'
import type { Answer } from '../../model/question.ts'
import type { GrantBounds } from '../grant-bounds.ts'
import { shownArguments } from './shown-arguments.ts'

export interface MakeGrantOptions {
  bounds: GrantBounds
  /** The person must be asked each time, so the grant is for one use, whatever they chose. */
  isForced: boolean
  /** Milliseconds of the wall clock. */
  now: number
  by: string
  /** Removes registered secrets from the arguments that the grant shows. */
  scrub(text: string): string
}

const HOUR_MS = 60 * 60_000

/** Maximum age of grants that end with a conversation, because some conversations never end. Others last until they are revoked, or as long as a rule says. */
const PASSING_TTL_MS: Partial<Record<GrantScope, number>> = { once: HOUR_MS / 4, turn: HOUR_MS, session: 24 * HOUR_MS }

/** @param action with the arguments as edited by the person */
export function makeGrant(action: Action, answer: Extract<Answer, { kind: 'allow' }>, options: MakeGrantOptions): Grant {
  const { bounds, isForced, now, by, scrub } = options
  const predicate = predicateOf(action, answer)
  const scope = isForced ? 'once' : scopeWithin(answer.scope, predicate.kind === 'exact' ? bounds.scopes : bounds.wideScopes)
  const usesLeft = scope === 'once' ? 1 : bounds.maxUses
  const ttlMs = Math.min(PASSING_TTL_MS[scope] ?? Number.POSITIVE_INFINITY, bounds.maxTtlMs ?? Number.POSITIVE_INFINITY)
  return {
    id: randomUUID(),
    action: action.kind,
    scope,
    ...(Number.isFinite(ttlMs) && { expiresAt: now + ttlMs }),
    ...(usesLeft !== undefined && { usesLeft }),
    bind: {
      server: action.server.id,
      fingerprint: action.server.fingerprint,
      ...(action.primitive && { primitive: action.primitive.name }),
      ...(action.primitive?.pin !== undefined && { pin: action.primitive.pin }),
      args: scope === 'once' ? exactly(action) : withShown(predicate, action, scrub),
      principal: action.principal,
      ...(scope !== 'project' && scope !== 'always' && { run: action.run }),
      ...(scope === 'turn' && { turn: action.turn }),
      ...(scope === 'project' && { project: action.project }),
    },
    by,
    at: now,
  }
}

/** The longest offered scope that is not longer than the chosen one. */
function scopeWithin(chosen: GrantScope, offered: readonly GrantScope[]): GrantScope {
  const upTo = GRANT_SCOPES.slice(0, GRANT_SCOPES.indexOf(chosen) + 1)
  return upTo.findLast((scope) => offered.includes(scope)) ?? 'once'
}

function predicateOf(action: Action, { width, pattern }: Extract<Answer, { kind: 'allow' }>): ArgumentPredicate {
  if (width === 'any') return { kind: 'any' }
  // A pattern without conditions would match any arguments, which is not what the person chose.
  if (width === 'pattern' && pattern && Object.keys(pattern).length > 0) return { kind: 'pattern', args: pattern }
  return exactly(action)
}

/** A grant for once is used up before anyone can list it. */
const withShown = (predicate: ArgumentPredicate, { args }: Action, scrub: (text: string) => string): ArgumentPredicate =>
  predicate.kind === 'exact' ? { ...predicate, shown: shownArguments(args, scrub) } : predicate

const exactly = ({ args }: Action): ArgumentPredicate => ({ kind: 'exact', digest: digestOf(args) })
