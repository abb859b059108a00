/** Rules and an action whose arguments are not known any more. */

import type { MatchedRules } from '../consent/decide.ts'
import type { Action } from '../model/action.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compile-policy.ts'

export interface ArgumentFree {
  certain: MatchedRules
  /** All but their arguments match. */
  open: readonly CompiledRule[]
}

export function argumentFree(policy: CompiledPolicy, action: Action): ArgumentFree {
  const rules = (policy.byKind.get(action.kind) ?? []).filter(({ conditions }) =>
    conditions.every((condition) => condition.holds(action) || condition.needsArguments(action)),
  )
  const isOpen = ({ arguments: args, conditions }: CompiledRule): boolean =>
    args.length > 0 || conditions.some((condition) => !condition.holds(action))
  return { certain: { matched: rules.filter((rule) => !isOpen(rule)), unsure: [] }, open: rules.filter(isOpen) }
}
