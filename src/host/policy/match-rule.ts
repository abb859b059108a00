/** Whether one rule is about one action. */

import type { Action } from '../model/action.ts'
import type { Rule } from '../model/rule.ts'
import { type CompiledArgument, judgeArgument, type Verdict } from './argument-test.ts'
import type { CompiledRule, Condition } from './compile-policy.ts'

export type RuleVerdict =
  | { kind: 'matches' }
  | { kind: 'other-action' }
  | { kind: 'condition-fails'; condition: Condition }
  | { kind: 'argument-fails'; argument: CompiledArgument }
  /** It would forbid, and whether it applies cannot be told: that is not the same as that it does not apply. */
  | { kind: 'unsure'; why: string }

const MATCHES: RuleVerdict = { kind: 'matches' }
const OTHER_ACTION: RuleVerdict = { kind: 'other-action' }

export function matchRule(compiled: CompiledRule, action: Action): RuleVerdict {
  if (!compiled.kinds.has(action.kind)) return OTHER_ACTION
  for (const condition of compiled.conditions) if (!condition.holds(action)) return { kind: 'condition-fails', condition }
  let why: string | undefined
  for (const argument of compiled.arguments) {
    const verdict = judge(argument, compiled.rule, action)
    if (typeof verdict === 'string') why = verdict
    else if (verdict === undefined && isForbidding(compiled.rule)) why = `what stands at ${argument.pointer.text} could not be judged`
    else if (verdict !== true) return { kind: 'argument-fails', argument }
  }
  return why === undefined ? MATCHES : { kind: 'unsure', why }
}

export const isForbidding = ({ effect }: Rule): boolean => effect === 'deny' || effect === 'quarantine'

/**
 * A rule that allows must hold for everything its pointers reach, and they must reach something. One that asks or
 * forbids holds as soon as one value fits; with `*` one that forbids also holds where there is nothing to look at.
 */
function judge(argument: CompiledArgument, rule: Rule, action: Action): Verdict | string {
  try {
    if (rule.effect === 'allow') return judgeArgument(argument, action, 'all')
    return judgeArgument(argument, action, isForbidding(rule) && argument.pointer.isWild ? 'some-or-none' : 'some')
  } catch (error) {
    return (error as Error).message
  }
}
