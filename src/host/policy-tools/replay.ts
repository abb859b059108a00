/** Replays past decisions under another policy, to show which ones would change. */

import { type MatchedRules, matchedRules, settle } from '../consent/decide.ts'
import { type Action, EFFECTS, type Effect } from '../model/action.ts'
import type { AuditRecord } from '../model/audit-record.ts'
import { actionFrom } from '../model/facts.ts'
import type { Grant } from '../model/grant.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compile-policy.ts'
import { matchWithoutArguments } from './match-without-arguments.ts'

/** A decision in the audit log. */
export interface DecisionRecord {
  seq: number
  /** The decision before the person answered. */
  effect: Effect
  /** The recorded facts of the action. */
  facts: unknown
  /** The complete arguments. Left out if the log only has a preview. */
  args?: Readonly<Record<string, unknown>>
  /** The id of the grant that was used, if any. It is assumed to apply again. */
  grant?: string
}

/**
 * The decision of a record of the audit log, to decide it again.
 *
 * @example
 * for await (const record of readAudit(folder)) if (record.kind === 'intent') records.push(pastDecision(record))
 */
export function pastDecision({ seq, entry }: Extract<AuditRecord, { kind: 'intent' | 'refusal' }>): DecisionRecord {
  const { effect, ruled = effect, facts, grant, args, answer } = entry
  return {
    seq,
    // An answer means that the rules asked. The grant of an action that was answered is the answer itself.
    effect: answer ? 'ask' : ruled,
    facts,
    ...(grant !== undefined && !answer && { grant }),
    ...(args?.isWhole && { args: args.preview as Record<string, unknown> }),
  }
}

/** A past decision, compared with the decision under another policy. */
export type Replayed =
  | { kind: 'same' | 'changed'; seq: number; before: Effect; after: Effect; reasons: readonly string[] }
  /** The decision depends on arguments that are no longer known. */
  | { kind: 'unknown'; seq: number; before: Effect; possible: readonly Effect[]; rules: readonly string[] }
  | { kind: 'unreadable'; seq: number; why: string }

/** With more undecided rules than this, there are too many combinations to try: every effect counts as possible. */
const MAX_OPEN = 16

/**
 * Decides past actions again under this policy.
 *
 * @example
 * for (const replayed of replayDecisions(records, policy)) if (replayed.kind === 'changed') console.log(replayed)
 */
export function* replayDecisions(records: Iterable<DecisionRecord>, policy: CompiledPolicy): Generator<Replayed> {
  for (const record of records) yield replayDecision(record, policy)
}

/**
 * The ids of the rules that match a past action for certain.
 *
 * @example
 * for (const id of matchingRules(record, policy)) hits.set(id, (hits.get(id) ?? 0) + 1)
 */
export function matchingRules({ facts, args }: Pick<DecisionRecord, 'facts' | 'args'>, policy: CompiledPolicy): string[] {
  try {
    const action = actionFrom(facts, args)
    const { matched } = args === undefined ? matchWithoutArguments(policy, action).certain : matchedRules(policy, action)
    return matched.map(({ rule }) => rule.id)
  } catch {
    return []
  }
}

function replayDecision(record: DecisionRecord, policy: CompiledPolicy): Replayed {
  try {
    return decideAgain(record, policy)
  } catch (error) {
    return { kind: 'unreadable', seq: record.seq, why: (error as Error).message }
  }
}

function decideAgain({ seq, effect: before, facts, args, grant }: DecisionRecord, policy: CompiledPolicy): Replayed {
  const action = actionFrom(facts, args)
  const grantFor = (): Grant | undefined => (grant === undefined ? undefined : pastGrant(grant, action))
  const { certain, open } = args === undefined ? matchWithoutArguments(policy, action) : { certain: matchedRules(policy, action), open: [] }
  const decisions = combinations(certain, open)?.map((matched) => settle(policy, action, matched, grantFor))
  const possible = decisions ? EFFECTS.filter((effect) => decisions.some((decision) => decision.effect === effect)) : EFFECTS
  const first = decisions?.[0]
  if (possible.length > 1 || !first) return { kind: 'unknown', seq, before, possible, rules: open.map(({ rule }) => rule.id) }
  const after = first.effect
  return { kind: after === before ? 'same' : 'changed', seq, before, after, reasons: first.reasons.map(({ text }) => text) }
}

/**
 * All combinations of at most three open rules. Three are enough to produce every possible decision: one sets rules with `mayRelax`
 * aside, one overrides the default, one is the strictest. Undefined: too many combinations.
 */
function combinations({ matched, unsure }: MatchedRules, open: readonly CompiledRule[]): MatchedRules[] | undefined {
  if (open.length > MAX_OPEN) return undefined
  const choices: CompiledRule[][] = [[]]
  for (const rule of open) choices.push(...choices.filter((choice) => choice.length < 3).map((choice) => [...choice, rule]))
  return choices.map((extra) => ({ matched: [...matched, ...extra], unsure }))
}

const pastGrant = (id: string, action: Action): Grant => ({
  id,
  action: action.kind,
  scope: 'always',
  expiresAt: action.at,
  bind: { server: action.server.id, fingerprint: action.server.fingerprint, args: { kind: 'any' }, principal: action.principal },
  by: 'the person',
  at: action.at,
})
