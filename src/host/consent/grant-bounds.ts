/** How long, and for how many uses, a grant may last. */

import type { Action } from '../model/action.ts'
import { GRANT_SCOPES, type GrantScope } from '../model/grant.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compile-policy.ts'
import { durationMs } from '../policy/duration.ts'
import { effectiveRules, matchedRules, mayLoosen } from './decide.ts'
import { DEFAULTS, KEEP_DESTRUCTIVE, KEEP_OPEN_WORLD } from './defaults.ts'
import { forcedQuestions } from './guards.ts'
import { isDeclared, isPossible } from './hints.ts'

export interface GrantBounds {
  /** For exactly the arguments of the question. From the shortest to the longest; always contains `once`. */
  scopes: readonly GrantScope[]
  /** For a pattern, or any arguments. */
  wideScopes: readonly GrantScope[]
  /** Undefined: until the grant is revoked. */
  maxTtlMs: number | undefined
  /** Undefined: unlimited. */
  maxUses: number | undefined
}

/**
 * The tightest bounds of the matching rules; without any, those of the kind of action, its hints, the tier and the preset. Project rules
 * and rules about claims can only tighten them. A forced question is asked each time, so its answer is used once.
 */
export function grantBounds(policy: CompiledPolicy, action: Action): GrantBounds {
  const effective = effectiveRules(matchedRules(policy, action).matched, action)
  const [loosening, tightening] = [true, false].map((may) => effective.filter((rule) => mayLoosen(rule, action) === may)) as [
    CompiledRule[],
    CompiledRule[],
  ]
  const isForced = forcedQuestions(action).length > 0
  const upTo = (byDefault: GrantScope): GrantScope[] => {
    const longest = shortest([shortest(scopesOf(loosening)) ?? byDefault, ...scopesOf(tightening)]) ?? 'once'
    return GRANT_SCOPES.slice(0, GRANT_SCOPES.indexOf(isForced ? 'once' : longest) + 1)
  }
  return {
    scopes: upTo(policy.preset === 'cautious' ? cautiousScope(action) : DEFAULTS[action.kind].keep),
    wideScopes: upTo(policy.preset === 'cautious' ? cautiousScope(action) : wideScope(action)),
    maxTtlMs: least([...ttlsOf(loosening), ...ttlsOf(tightening)]),
    maxUses: least(effective.flatMap(({ rule }) => rule.grant?.maxUses ?? [])),
  }
}

const scopesOf = (rules: readonly CompiledRule[]): GrantScope[] => rules.flatMap(({ rule }) => rule.grant?.scope ?? [])

const ttlsOf = (rules: readonly CompiledRule[]): number[] =>
  rules.flatMap(({ rule }) => (rule.grant?.ttl === undefined ? [] : [durationMs(rule.grant.ttl)]))

const shortest = (scopes: readonly GrantScope[]): GrantScope | undefined => GRANT_SCOPES.find((scope) => scopes.includes(scope))

const least = (numbers: readonly number[]): number | undefined => (numbers.length > 0 ? Math.min(...numbers) : undefined)

/** With the preset `cautious`, a grant for a tool that may destroy or send out something ends with the turn or the conversation. */
function cautiousScope(action: Action): GrantScope {
  const { keep, hasHints } = DEFAULTS[action.kind]
  if (!hasHints) return keep
  if (isDeclared(action, 'destructiveHint')) return KEEP_DESTRUCTIVE
  return isPossible(action, 'openWorldHint') || isPossible(action, 'destructiveHint') ? KEEP_OPEN_WORLD : keep
}

/** A grant for other arguments is shorter, because they can destroy something else or send something else out. */
function wideScope(action: Action): GrantScope {
  const { keep, hasHints } = DEFAULTS[action.kind]
  if (!hasHints) return keep
  if (isDeclared(action, 'destructiveHint')) return KEEP_DESTRUCTIVE
  return isDeclared(action, 'openWorldHint') ? KEEP_OPEN_WORLD : keep
}
