/**
 * Decides whether an action is allowed. A pure function of rules, facts and grants, so that decisions can be explained, tested and
 * replayed.
 *
 * The strictest effect wins (deny > quarantine > ask > allow):
 *
 * 1. The server is not configured: deny. The definition is not approved: quarantine.
 * 2. Rules of all layers. A rule marked `mayRelax` is ignored when a rule of a lower layer matches; all other rules apply, so lower
 *    layers can only tighten. Without a matching rule the preset of the policy and the defaults of defaults.ts apply, and rules of the
 *    project layer cannot loosen them. For a server of a project, only a rule that names the tier can loosen them. A forbidding rule that cannot be evaluated forces a question; in a headless run it denies.
 * 3. Limits of the effective rules: deny, with the name of the limit.
 * 4. Hints of the server and untrusted text in the conversation raise `allow` to `ask`, unless a rule allows the server by its name.
 *    They never lower an effect.
 * 5. Guards force a question: the same call of a model three times in a row; untrusted text, private data and an open-world action
 *    together; forms and pages. Neither rules nor grants nor bypass satisfy a forced question.
 * 6. A matching grant turns `ask` into `allow`. So does bypass, except for starting, connecting and approving servers.
 *
 * In a headless run `ask` stays `ask`: the caller knows whether an inbox is available.
 */

import type { Action, Decision, Effect, Reason } from '../model/action.ts'
import type { Grant } from '../model/grant.ts'
import { ruleName } from '../model/rule.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compile-policy.ts'
import { describeExceeded, tightest } from '../policy/limits.ts'
import { isForbidding, matchRule } from '../policy/match-rule.ts'
import { DEFAULTS, KIND_WORDS, LOOSENS_DEFAULT } from './defaults.ts'
import { grantMatches } from './grant-match.ts'
import { forcedQuestions, isConsequential, isForServer, isMeant, raises, refusals } from './guards.ts'
import { presetReason } from './preset.ts'

/** More reasons would not be read. */
const MAX_REASONS = 20

/**
 * Decides an action. Never throws: an evaluation that fails forces a question, and denies in a headless run.
 *
 * @example
 * const { effect, reasons } = decide(await compilePolicy(policy), action, grants)
 */
export function decide(policy: CompiledPolicy, action: Action, grants: readonly Grant[]): Decision {
  try {
    return settle(policy, action, matchedRules(policy, action), () => findGrant(policy, action, grants))
  } catch (error) {
    const effect = action?.mode === 'interactive' ? 'ask' : 'deny'
    const reason = builtIn('evaluator', effect, `The rules could not be evaluated: ${(error as Error).message}`)
    return effect === 'ask' ? { effect, reasons: [reason], isForced: true, limits: {} } : { effect, reasons: [reason], limits: {} }
  }
}

export interface MatchedRules {
  matched: readonly CompiledRule[]
  unsure: readonly { rule: CompiledRule; why: string }[]
}

export function matchedRules(policy: CompiledPolicy, action: Action): MatchedRules {
  const matched: CompiledRule[] = []
  const unsure: { rule: CompiledRule; why: string }[] = []
  for (const rule of policy.byKind.get(action.kind) ?? []) {
    const verdict = matchRule(rule, action)
    if (verdict.kind === 'matches') matched.push(rule)
    else if (verdict.kind === 'unsure') unsure.push({ rule, why: verdict.why })
  }
  return { matched, unsure }
}

/**
 * The rules that apply: all but `mayRelax` rules for which a lower layer has a matching rule. A rule about claims relaxes nothing,
 * otherwise a server could loosen the policy by its claims. The same holds for a rule that was written for another server of that name.
 */
export function effectiveRules(matched: readonly CompiledRule[], action: Action): readonly CompiledRule[] {
  const relaxing = matched.filter(({ rule, layer }) => !rule.match.claimed && (!LOOSENS_DEFAULT[layer] || isForServer(rule, action)))
  const lowest = Math.max(0, ...relaxing.map(({ rank }) => rank))
  return matched.filter(({ rule, rank }) => !rule.mayRelax || rank >= lowest)
}

/**
 * Whether a rule may be less strict than the default: not if it comes from a project, depends on claims of a server, or was written for
 * another server of the same name.
 */
export const mayLoosen = (compiled: CompiledRule, action: Action): boolean =>
  LOOSENS_DEFAULT[compiled.layer] && !compiled.rule.match.claimed && isMeant(compiled, action)

/** The rest of the decision, once the matching rules are known. */
export function settle(
  policy: CompiledPolicy,
  action: Action,
  { matched, unsure }: MatchedRules,
  grantFor: () => Grant | undefined,
): Decision {
  const standing = effectiveRules(matched, action)
  const limits = tightest(standing.flatMap(({ rule, limits: each }) => (rule.limits ? each : [])))
  const reasons: Reason[] = [...refusals(action), ...standing.map(({ reason }) => reason)]
  const isRuled = matched.some((rule) => mayLoosen(rule, action))
  if (!isRuled) reasons.push(byDefault(policy, action, matched))
  const limit = describeExceeded(limits, action.usage)
  if (limit !== undefined) reasons.push(builtIn('limit', 'deny', limit))
  const isByPreset = !isRuled && presetReason(policy, action) !== undefined
  if (strictest(reasons) === 'allow') reasons.push(...raises(action, standing, isByPreset))
  const forced = forcedQuestions(action)
  reasons.push(...forced)
  let isForced = forced.length > 0
  for (const { rule, why } of unsure) {
    reasons.push(unsureReason(rule, why, action))
    isForced ||= isForbidding(rule.rule)
  }
  const effect = strictest(reasons)
  const sorted = sortReasons(reasons)
  if (effect !== 'ask') return { effect, reasons: sorted, limits }
  if (isForced) return { effect, reasons: forcedFirst(sorted, forced), isForced, limits }
  const grant = grantFor()
  if (grant) return { effect: 'allow', reasons: [grantReason(grant), ...sorted], grant: grant.id, limits }
  if (policy.policy.isBypassing && !DEFAULTS[action.kind].defiesBypass) {
    return { effect: 'allow', reasons: [builtIn('bypass', 'allow', 'Questions are bypassed (bypass)'), ...sorted], limits }
  }
  return { effect, reasons: sorted, limits }
}

const RANKS: Readonly<Record<Effect, number>> = { allow: 0, ask: 1, quarantine: 2, deny: 3 }

export const rankOf = (effect: Effect): number => RANKS[effect]

const strictest = (reasons: readonly Reason[]): Effect =>
  reasons.reduce<Effect>((found, { effect }) => (rankOf(effect) > rankOf(found) ? effect : found), 'allow')

const sortReasons = (reasons: readonly Reason[]): Reason[] =>
  [...reasons].sort((a, b) => rankOf(b.effect) - rankOf(a.effect)).slice(0, MAX_REASONS)

const forcedFirst = (sorted: readonly Reason[], forced: readonly Reason[]): Reason[] =>
  [...forced, ...sorted.filter((reason) => !forced.includes(reason))].slice(0, MAX_REASONS)

function findGrant(policy: CompiledPolicy, action: Action, grants: readonly Grant[]): Grant | undefined {
  // Grants from before untrusted text arrived do not count: the text may be what causes this action. The exception is a lasting grant
  // for exact arguments: the person agreed to just this for good, and no text can make it do anything else.
  const since = isConsequential(action) ? (action.untrustedSince ?? 0) : 0
  return grants.find((grant) => {
    try {
      return (grant.at >= since || isForGood(grant)) && grantMatches(grant, action, policy.folders)
    } catch {
      // An unreadable grant does not match.
      return false
    }
  })
}

const isForGood = ({ scope, bind }: Grant): boolean => scope === 'always' && bind.args.kind === 'exact'

function byDefault(policy: CompiledPolicy, action: Action, matched: readonly CompiledRule[]): Reason {
  if (action.isFirstOffering && action.kind === 'server.approve' && policy.preset !== 'cautious') {
    return builtIn('enabled', 'allow', 'You enabled the server, and nothing in its offering needs a warning')
  }
  if (action.isConfigured) return builtIn('configured', 'allow', 'The configuration of the server allows it')
  const preset = presetReason(policy, action)
  if (preset) return preset
  const { effect, byUser, pin } = DEFAULTS[action.kind]
  const isOwnAct = action.initiator === 'user' && (pin === 'none' || action.primitive?.state === 'pinned')
  const text =
    matched.length > 0
      ? tightensOnly(matched, action)
      : isOwnAct && byUser === 'allow'
        ? 'You requested it, and no rule forbids it'
        : `You have no rule for ${KIND_WORDS[action.kind]}${effect === 'ask' ? '' : `, so ${IN_WORDS[effect]}`}`
  return builtIn('default', isOwnAct ? byUser : effect, text)
}

const tightensOnly = (matched: readonly CompiledRule[], action: Action): string =>
  matched.every((rule) => isMeant(rule, action))
    ? 'Project rules and rules about server claims can only tighten'
    : 'The project chose the name of this server, so your rules for that name can only tighten'

const IN_WORDS: Record<Effect, string> = {
  allow: 'it is allowed',
  ask: 'you are asked',
  quarantine: 'it is in quarantine',
  deny: 'it is denied',
}

const unsureReason = ({ rule, layer }: CompiledRule, why: string, { mode }: Action): Reason => ({
  id: rule.id,
  layer,
  effect: mode === 'interactive' ? 'ask' : 'deny',
  text: `Rule ${ruleName(rule.id)} of the ${layer} layer cannot be evaluated: ${why}`,
})

const grantReason = ({ id, by, scope }: Grant): Reason => ({
  id,
  layer: 'grant',
  effect: 'allow',
  text: `${by} approved this (${scope})`,
})

const builtIn = (id: string, effect: Effect, text: string): Reason => ({ id, layer: 'built-in', effect, text })
