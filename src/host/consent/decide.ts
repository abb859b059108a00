/**
 * The one decision point of a host: whether an action may be done. A pure function of rules, facts and grants, so that
 * it can be explained, tested and asked again about the past.
 *
 * What it goes by, the strictest always holding (deny > quarantine > ask > allow):
 *
 * 1. A server that is not configured: deny. Something of a server that is not as it was approved: quarantine.
 * 2. Rules of all layers. A rule marked `mayRelax` is set aside when a rule of a lower layer matches; any other rule
 *    stands, so that lower layers only tighten. Where no rule matches, defaults.ts holds; rules of the project layer
 *    cannot loosen it. A rule that forbids and cannot be judged makes this a forced question, in a headless run a no.
 * 3. Limits of the rules that stand: deny, naming the limit.
 * 4. Claims of the server, and text of strangers in the conversation, raise `allow` to `ask`, and lower nothing.
 * 5. Guards force a question: the same call three times in a row; untrusted text, private data and a way out together;
 *    what only a person can answer. No grant and no bypass answers a forced question.
 * 6. A live grant for just this turns `ask` into `allow`; so does bypass, except for who is let in at all.
 *
 * In a headless run `ask` stays `ask`: whoever runs it knows whether there is an inbox that a person will look into.
 */

import type { Action, Decision, Effect, Reason } from '../model/action.ts'
import type { Grant } from '../model/grant.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compile-policy.ts'
import { describeExceeded, tightest } from '../policy/limits.ts'
import { isForbidding, matchRule } from '../policy/match-rule.ts'
import { DEFAULTS, KIND_WORDS, LOOSENS_DEFAULT } from './defaults.ts'
import { grantMatches } from './grant-match.ts'
import { forcedQuestions, isConsequential, raises, refusals } from './guards.ts'

/** More reasons than a person reads are not given. */
const MAX_REASONS = 20

/** Never throws: what cannot be evaluated is a forced question, or in a headless run a no. */
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
 * The rules that hold: all but those that let themselves be relaxed, where a lower layer has something to say. A rule
 * about claims relaxes nothing, because then a server could loosen by claiming.
 */
export function standingRules(matched: readonly CompiledRule[]): readonly CompiledRule[] {
  const lowest = matched.reduce((found, { rule, rank }) => (rule.match.claimed ? found : Math.max(found, rank)), 0)
  return matched.filter(({ rule, rank }) => !rule.mayRelax || rank >= lowest)
}

/** Whether a rule may say less than what holds without it: not from a project, and not because of what a server claims. */
export const mayLoosen = ({ rule, layer }: CompiledRule): boolean => LOOSENS_DEFAULT[layer] && !rule.match.claimed

/** Which rules matched is known: the rest of the decision. */
export function settle(
  policy: CompiledPolicy,
  action: Action,
  { matched, unsure }: MatchedRules,
  grantFor: () => Grant | undefined,
): Decision {
  const standing = standingRules(matched)
  const limits = tightest(standing.flatMap(({ rule, limits: each }) => (rule.limits ? each : [])))
  const reasons: Reason[] = [...refusals(action), ...standing.map(({ reason }) => reason)]
  if (!matched.some(mayLoosen)) reasons.push(byDefault(action, matched))
  const limit = describeExceeded(limits, action.usage)
  if (limit !== undefined) reasons.push(builtIn('limit', 'deny', limit))
  if (strictest(reasons) === 'allow') reasons.push(...raises(action, standing))
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
    return { effect: 'allow', reasons: [builtIn('bypass', 'allow', 'The person asked not to be asked'), ...sorted], limits }
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
  // Who said yes before strangers spoke up did not know that it may be they who want it.
  const since = isConsequential(action) ? (action.untrustedSince ?? 0) : 0
  return grants.find((grant) => {
    try {
      return grant.at >= since && grantMatches(grant, action, policy.folders)
    } catch {
      // A grant that cannot be read is none.
      return false
    }
  })
}

function byDefault(action: Action, matched: readonly CompiledRule[]): Reason {
  if (action.isConfigured) return builtIn('configured', 'allow', 'Your own configuration of the server says so')
  const { effect, byUser, pin } = DEFAULTS[action.kind]
  const isOwnAct = action.initiator === 'user' && (pin === 'none' || action.primitive?.state === 'pinned')
  const text =
    matched.length > 0
      ? 'Rules of a project, and those about claims of a server, only tighten'
      : isOwnAct && byUser === 'allow'
        ? 'The person wants it, and no rule speaks against it'
        : `No rule covers ${KIND_WORDS[action.kind]}, so ${IN_WORDS[effect]}.`
  return builtIn('default', isOwnAct ? byUser : effect, text)
}

const IN_WORDS: Record<Effect, string> = {
  allow: 'it is allowed',
  ask: 'you are asked',
  quarantine: 'it is put aside',
  deny: 'it is refused',
}

const unsureReason = ({ rule, layer }: CompiledRule, why: string, { mode }: Action): Reason => ({
  id: rule.id,
  layer,
  effect: mode === 'interactive' ? 'ask' : 'deny',
  text: `Whether rule ${rule.id} applies cannot be told: ${why}`,
})

const grantReason = ({ id, by, scope }: Grant): Reason => ({
  id,
  layer: 'grant',
  effect: 'allow',
  text: `${by} said yes to this (${scope})`,
})

const builtIn = (id: string, effect: Effect, text: string): Reason => ({ id, layer: 'built-in', effect, text })
