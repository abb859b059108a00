/** Matches rules against an action whose arguments are no longer known. */

import type { MatchedRules } from '../consent/decide.ts'
import type { Action } from '../model/action.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compile-policy.ts'

export interface MatchWithoutArguments {
  certain: MatchedRules
  /** Rules that match except for their argument tests, which cannot be evaluated. */
  open: readonly CompiledRule[]
}

export function matchWithoutArguments(policy: CompiledPolicy, action: Action): MatchWithoutArguments {
  const rules = (policy.byKind.get(action.kind) ?? []).filter(({ conditions }) =>
    conditions.every((condition) => condition.holds(action) || condition.needsArguments(action)),
  )
  const isOpen = ({ arguments: args, conditions }: CompiledRule): boolean =>
    args.length > 0 || conditions.some((condition) => !condition.holds(action))
  return { certain: { matched: rules.filter((rule) => !isOpen(rule)), unsure: [] }, open: rules.filter(isOpen) }
}
