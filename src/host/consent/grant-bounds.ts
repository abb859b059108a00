/** How long, and for how many uses, a grant may last. */

import type { Action } from '../model/action.ts'
import { GRANT_SCOPES, type GrantScope } from '../model/grant.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compile-policy.ts'
import { durationMs } from '../policy/duration.ts'
import { effectiveRules, matchedRules, mayLoosen } from './decide.ts'
import { DEFAULT_GRANT_TTL_MS, DEFAULTS, KEEP_DESTRUCTIVE, KEEP_OPEN_OR_UNTRUSTED } from './defaults.ts'
import { forcedQuestions } from './guards.ts'
import { isDeclared, isPossible } from './hints.ts'

export interface GrantBounds {
  /** From the shortest to the longest; always contains `once`. */
  scopes: readonly GrantScope[]
  maxTtlMs: number
  /** Undefined: unlimited. */
  maxUses: number | undefined
}

/**
 * The tightest bounds of the matching rules; without any, those of the kind of action, its hints and the tier. Project rules and rules
 * about claims can only tighten them. A forced question is asked each time, so its answer is used once.
 */
export function grantBounds(policy: CompiledPolicy, action: Action): GrantBounds {
  const effective = effectiveRules(matchedRules(policy, action).matched)
  const [loosening, tightening] = [true, false].map((may) => effective.filter((rule) => mayLoosen(rule) === may)) as [
    CompiledRule[],
    CompiledRule[],
  ]
  const scope = [shortest(scopesOf(loosening)) ?? defaultScope(action), ...scopesOf(tightening)]
  const ttlMs = [least(ttlsOf(loosening)) ?? DEFAULT_GRANT_TTL_MS, ...ttlsOf(tightening)]
  const longest = forcedQuestions(action).length > 0 ? 'once' : (shortest(scope) ?? 'once')
  return {
    scopes: GRANT_SCOPES.slice(0, GRANT_SCOPES.indexOf(longest) + 1),
    maxTtlMs: Math.min(...ttlMs),
    maxUses: least(effective.flatMap(({ rule }) => rule.grant?.maxUses ?? [])),
  }
}

const scopesOf = (rules: readonly CompiledRule[]): GrantScope[] => rules.flatMap(({ rule }) => rule.grant?.scope ?? [])

const ttlsOf = (rules: readonly CompiledRule[]): number[] =>
  rules.flatMap(({ rule }) => (rule.grant?.ttl === undefined ? [] : [durationMs(rule.grant.ttl)]))

const shortest = (scopes: readonly GrantScope[]): GrantScope | undefined => GRANT_SCOPES.find((scope) => scopes.includes(scope))

const least = (numbers: readonly number[]): number | undefined => (numbers.length > 0 ? Math.min(...numbers) : undefined)

function defaultScope(action: Action): GrantScope {
  const { keep, hasHints } = DEFAULTS[action.kind]
  if (!hasHints) return keep
  if (isDeclared(action, 'destructiveHint')) return KEEP_DESTRUCTIVE
  const isCareDue = isPossible(action, 'openWorldHint') || isPossible(action, 'destructiveHint')
  return isCareDue ? KEEP_OPEN_OR_UNTRUSTED : keep
}
