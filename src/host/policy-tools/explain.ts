/** Explains one decision: for every rule, whether it applies, and if not, which condition failed. */

import { decide, effectiveRules, matchedRules } from '../consent/decide.ts'
import type { Action, Decision, Effect } from '../model/action.ts'
import type { Grant } from '../model/grant.ts'
import type { PolicyLayer } from '../model/rule.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compile-policy.ts'
import { matchRule, type RuleVerdict } from '../policy/match-rule.ts'
import { select } from '../policy/pointer.ts'

/** A decision with the rules behind it. */
export interface Explanation {
  decision: Decision
  rules: readonly ExplainedRule[]
  /** The explanation as text, one line per reason, limit and rule. */
  text: string
}

export interface ExplainedRule {
  id: string
  layer: PolicyLayer
  effect: Effect
  /** `set-aside`: the rule matches, but it has `mayRelax` and a lower layer decides. */
  outcome: 'holds' | 'set-aside' | 'does-not-match' | 'unsure'
  why: string
}

/**
 * Explains the decision of a policy about an action, and why each rule applies or not.
 *
 * @example
 * console.log(explain(policy, action, []).text)
 */
export function explain(policy: CompiledPolicy, action: Action, grants: readonly Grant[]): Explanation {
  const decision = decide(policy, action, grants)
  const standing = new Set(effectiveRules(matchedRules(policy, action).matched, action))
  const rules = policy.rules.map((rule) => explainRule(rule, action, standing))
  return { decision, rules, text: explanationText(action, decision, rules, policy.preset) }
}

function explainRule(compiled: CompiledRule, action: Action, standing: ReadonlySet<CompiledRule>): ExplainedRule {
  const { rule, layer } = compiled
  const verdict = matchRule(compiled, action)
  const [outcome, why] = explainVerdict(verdict, compiled, action, standing)
  return { id: rule.id, layer, effect: rule.effect, outcome, why }
}

function explainVerdict(
  verdict: RuleVerdict,
  compiled: CompiledRule,
  action: Action,
  standing: ReadonlySet<CompiledRule>,
): [ExplainedRule['outcome'], string] {
  switch (verdict.kind) {
    case 'matches':
      return standing.has(compiled)
        ? ['holds', 'all its conditions hold']
        : ['set-aside', 'it has mayRelax, and a rule of a lower layer matches']
    case 'other-action':
      return ['does-not-match', `action: expected ${JSON.stringify(compiled.rule.match.action)}, got "${action.kind}"`]
    case 'condition-fails': {
      const { name, expected, got } = verdict.condition
      return ['does-not-match', `${name}: expected ${expected}, got ${got(action)}`]
    }
    case 'argument-fails': {
      const { pointer, expected } = verdict.argument
      const { found } = select(action.args, pointer)
      const got =
        found.length === 0
          ? 'no value'
          : found
              .slice(0, MAX_SHOWN)
              .map(({ value }) => JSON.stringify(value))
              .join(', ')
      return ['does-not-match', `arguments${pointer.text}: expected ${expected}, got ${got}`]
    }
    case 'unsure':
      return ['unsure', verdict.why]
  }
}

const MAX_SHOWN = 3

function explanationText(
  { kind, server, primitive, initiator }: Action,
  decision: Decision,
  rules: readonly ExplainedRule[],
  preset: CompiledPolicy['preset'],
): string {
  const what = primitive ? `${server.id}/${primitive.name}` : server.id
  const lines = [
    `${kind} of ${what}, requested by ${initiator}: ${decision.effect}${decision.isForced ? ' (always; cannot be granted in advance)' : ''}`,
  ]
  for (const { id, layer, effect, text } of decision.reasons) lines.push(`  because of ${id} (${layer}, ${effect}): ${text}`)
  for (const [name, limit] of Object.entries(decision.limits)) lines.push(`  limit ${name}: ${limit}`)
  lines.push(`Preset: ${preset}.`)
  lines.push(rules.length === 0 ? 'There are no rules.' : 'Rules:')
  for (const { id, layer, effect, outcome, why } of rules) lines.push(`  ${OUTCOMES[outcome]} ${id} (${layer}, ${effect}): ${why}`)
  return lines.join('\n')
}

const OUTCOMES: Record<ExplainedRule['outcome'], string> = {
  holds: 'holds         ',
  'set-aside': 'set aside     ',
  'does-not-match': 'does not match',
  unsure: 'undecided     ',
}
