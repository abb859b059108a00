/** Decisions of the past under other rules: which would have been others. */

import { type MatchedRules, matchedRules, settle } from '../consent/decide.ts'
import { type Action, EFFECTS, type Effect } from '../model/action.ts'
import { actionFrom } from '../model/facts.ts'
import type { Grant } from '../model/grant.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compile-policy.ts'
import { argumentFree } from './argument-free.ts'

/** What the audit log has of a decision. */
export interface DecisionRecord {
  seq: number
  /** As it was decided, before anybody answered. */
  effect: Effect
  /** What `factsOf` gave. */
  facts: unknown
  /** Only if the log has them whole; a preview is not what was decided about. */
  args?: Readonly<Record<string, unknown>>
  /** The grant that answered, if one did: it is taken to answer again. */
  grant?: string
}

export type Replayed =
  | { kind: 'same' | 'changed'; seq: number; before: Effect; after: Effect; reasons: readonly string[] }
  /** It depends on arguments that are not known any more. */
  | { kind: 'unknown'; seq: number; before: Effect; possible: readonly Effect[]; rules: readonly string[] }
  | { kind: 'unreadable'; seq: number; why: string }

/** With more rules than this whose arguments matter, anything is possible. */
const MAX_OPEN = 16

/** What would be decided by this policy about what was decided before. */
export function* replayDecisions(records: Iterable<DecisionRecord>, policy: CompiledPolicy): Generator<Replayed> {
  for (const record of records) yield replayDecision(record, policy)
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
  const { certain, open } = args === undefined ? argumentFree(policy, action) : { certain: matchedRules(policy, action), open: [] }
  const decisions = worlds(certain, open)?.map((matched) => settle(policy, action, matched, grantFor))
  const possible = decisions ? EFFECTS.filter((effect) => decisions.some((decision) => decision.effect === effect)) : EFFECTS
  const first = decisions?.[0]
  if (possible.length > 1 || !first) return { kind: 'unknown', seq, before, possible, rules: open.map(({ rule }) => rule.id) }
  const after = first.effect
  return { kind: after === before ? 'same' : 'changed', seq, before, after, reasons: first.reasons.map(({ text }) => text) }
}

/**
 * Every choice of at most three of the open rules stands for all choices: one sets aside what may be relaxed, one
 * silences the default, one is the strictest that is left. Undefined where that is too many to go through.
 */
function worlds({ matched, unsure }: MatchedRules, open: readonly CompiledRule[]): MatchedRules[] | undefined {
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
  by: 'somebody, then,',
  at: action.at,
})
