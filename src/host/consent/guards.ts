/** What holds whatever the rules say. */

import type { Action, Effect, Reason } from '../model/action.ts'
import { EGRESS, isPrivate, UNTRUSTED } from '../model/label.ts'
import type { CompiledRule } from '../policy/compile-policy.ts'
import { DEFAULTS, LOOP_AT, LOOSENS_DEFAULT, NEEDS_NO_SERVER } from './defaults.ts'
import { hintsAgainst, isDeclared, isPossible } from './hints.ts'

/** What cannot be allowed by anybody until something else has happened. */
export function refusals(action: Action): Reason[] {
  const { kind, server, primitive } = action
  if (!server.isKnown && !NEEDS_NO_SERVER.has(kind)) {
    return [guard('unknown-server', 'deny', `No server ${JSON.stringify(server.id)} is configured`)]
  }
  const { pin } = DEFAULTS[kind]
  if (pin === 'none' || (pin === 'if-any' && !primitive) || primitive?.state === 'pinned') return []
  return [guard('pin', 'quarantine', PIN_REASONS[primitive?.state ?? 'unseen'])]
}

const PIN_REASONS = {
  new: 'It came after the server was approved, and nobody has looked at it yet',
  changed: 'It is not what was approved',
  unseen: 'Nobody has looked at what this server offers yet',
}

/** What speaks against an `allow`, and may be answered by a grant. */
export function raises(action: Action, standing: readonly CompiledRule[]): Reason[] {
  const isForUntrusted = standing.some(
    ({ rule, layer }) => rule.effect === 'allow' && rule.match.tier === 'untrusted' && LOOSENS_DEFAULT[layer],
  )
  const reasons: Reason[] = []
  const against = hintsAgainst(action, isForUntrusted)
  if (against !== undefined) reasons.push(guard('hints', 'ask', against))
  if (action.labels.includes(UNTRUSTED) && isConsequential(action)) {
    reasons.push(guard('untrusted-context', 'ask', 'The conversation holds text of others, who may be the ones that want this'))
  }
  return reasons
}

/** It can change something for good, or take something out. */
export function isConsequential(action: Action): boolean {
  const { hasHints, carriesOut } = DEFAULTS[action.kind]
  if (carriesOut && action.server.labels.includes(EGRESS)) return true
  return hasHints && (isDeclared(action, 'destructiveHint') || isDeclared(action, 'openWorldHint'))
}

/** What a person must be asked each time. */
export function forcedQuestions(action: Action): Reason[] {
  const { isForced, mayLoop } = DEFAULTS[action.kind]
  const reasons: Reason[] = []
  const secrets = action.labels.filter(isPrivate)
  if (secrets.length > 0 && action.labels.includes(UNTRUSTED) && isOutward(action)) {
    const text = `The conversation holds text of others and private data (${secrets.join(', ')}), and this can send it out through ${action.server.id}`
    reasons.push(guard('data-flow', 'ask', text))
  }
  if (mayLoop && action.usage.identicalInARow >= LOOP_AT) {
    reasons.push(guard('loop', 'ask', `The same with the same arguments ${action.usage.identicalInARow} times in a row`))
  }
  if (isForced) reasons.push(guard('person', 'ask', 'Only a person can answer this'))
  return reasons
}

/** Whether it can take something out of this machine and of what the person controls. */
function isOutward(action: Action): boolean {
  const { carriesOut, hasHints } = DEFAULTS[action.kind]
  return carriesOut && (action.server.labels.includes(EGRESS) || (hasHints && isPossible(action, 'openWorldHint')))
}

const guard = (id: string, effect: Effect, text: string): Reason => ({ id, layer: 'built-in', effect, text })
