/** Matches one rule against one action. */

import type { Action } from '../model/action.ts'
import type { Rule } from '../model/rule.ts'
import { type CompiledArgument, judgeArgument, type Verdict } from './argument-test.ts'
import type { CompiledRule, Condition } from './compile-policy.ts'

export type RuleVerdict =
  | { kind: 'matches' }
  | { kind: 'other-action' }
  | { kind: 'condition-fails'; condition: Condition }
  | { kind: 'argument-fails'; argument: CompiledArgument }
  /** The rule denies or quarantines, and an argument could not be judged. Not the same as "does not match". */
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
    else if (verdict === undefined && isForbidding(compiled.rule)) why = `the value at ${argument.pointer.text} could not be judged`
    else if (verdict !== true) return { kind: 'argument-fails', argument }
  }
  return why === undefined ? MATCHES : { kind: 'unsure', why }
}

export const isForbidding = ({ effect }: Rule): boolean => effect === 'deny' || effect === 'quarantine'

/**
 * A rule that allows must hold for every value at its pointers, and there must be one. A rule that asks or forbids holds if one value
 * matches. With `*` in the pointer, a rule that forbids also holds if there is no value.
 */
function judge(argument: CompiledArgument, rule: Rule, action: Action): Verdict | string {
  try {
    if (rule.effect === 'allow') return judgeArgument(argument, action, 'all')
    return judgeArgument(argument, action, isForbidding(rule) && argument.pointer.isWild ? 'some-or-none' : 'some')
  } catch (error) {
    return (error as Error).message
  }
}
