/** Built-in checks that no rule can disable. */

import type { Action, Effect, Reason } from '../model/action.ts'
import { EGRESS, isPrivate, UNTRUSTED } from '../model/label.ts'
import type { Rule } from '../model/rule.ts'
import type { CompiledRule } from '../policy/compile-policy.ts'
import { hasWildcard } from '../policy/glob.ts'
import { DEFAULTS, LOOP_AT, LOOSENS_DEFAULT, NEEDS_NO_SERVER } from './defaults.ts'
import { hintsAgainst, isDeclared, isPossible } from './hints.ts'

/** Reasons that rule the action out: an unknown server, or a definition that is not approved. */
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
  new: 'It was added after the server was approved, and is not approved itself',
  changed: 'It changed since it was approved',
  unseen: 'Nothing of this server has been approved yet',
}

/**
 * Reasons to ask instead of allow. A grant satisfies them. A rule that allows a server by its name is the person's own decision about
 * that server, so nothing is raised over it. A preset has looked at the hints already.
 */
export function raises(action: Action, standing: readonly CompiledRule[], isByPreset: boolean): Reason[] {
  if (standing.some((compiled) => allowsByName(compiled) && isMeant(compiled, action))) return []
  const isForUntrusted = standing.some(
    ({ rule, layer }) => rule.effect === 'allow' && rule.match.tier === 'untrusted' && LOOSENS_DEFAULT[layer],
  )
  const reasons: Reason[] = []
  const against = isByPreset ? undefined : hintsAgainst(action, isForUntrusted)
  if (against !== undefined) reasons.push(guard('hints', 'ask', against))
  if (action.labels.includes(UNTRUSTED) && isConsequential(action)) {
    reasons.push(guard('untrusted-context', 'ask', 'The conversation contains untrusted text, which may have caused this action'))
  }
  return reasons
}

/**
 * Whether a rule allows servers that it names. A rule with a wildcard is also about servers that its author did not know, so the hints
 * of a server and untrusted text still count.
 */
export const allowsByName = ({ rule, layer }: CompiledRule): boolean =>
  rule.effect === 'allow' && LOOSENS_DEFAULT[layer] && !rule.match.claimed && namesServers(rule)

/**
 * A project chooses the names of its servers, and may choose one that the person knows. So a rule is meant for such a server only if it
 * names the tier.
 */
const isMeant = ({ rule }: CompiledRule, { server }: Action): boolean => !server.isOfProject || rule.match.tier !== undefined

const namesServers = ({ match: { server = [] } }: Rule): boolean => {
  const names = [server].flat()
  return names.length > 0 && !names.some(hasWildcard)
}

/** Whether the server or the operator says that an action destroys something or sends data out. */
export function isConsequential(action: Action): boolean {
  const { hasHints, carriesOut } = DEFAULTS[action.kind]
  if (carriesOut && action.server.labels.includes(EGRESS)) return true
  return hasHints && (isDeclared(action, 'destructiveHint') || isDeclared(action, 'openWorldHint'))
}

/** Reasons to ask each time. Grants do not satisfy them. */
export function forcedQuestions(action: Action): Reason[] {
  const { isForced, mayLoop } = DEFAULTS[action.kind]
  const reasons: Reason[] = []
  const secrets = action.labels.filter(isPrivate)
  if (secrets.length > 0 && action.labels.includes(UNTRUSTED) && isOutward(action)) {
    const text = `The conversation contains untrusted text and private data (${secrets.join(', ')}), and ${action.server.id} can send data out`
    reasons.push(guard('data-flow', 'ask', text))
  }
  if (mayLoop && action.initiator !== 'user' && action.usage.identicalInARow >= LOOP_AT) {
    reasons.push(
      guard('loop', 'ask', `The same action was requested ${action.usage.identicalInARow} times in a row, with the same arguments`),
    )
  }
  if (isForced) reasons.push(guard('person', 'ask', 'Only a person can answer this'))
  return reasons
}

/** Whether an action can send data to a place that the person does not control. */
function isOutward(action: Action): boolean {
  const { carriesOut, hasHints } = DEFAULTS[action.kind]
  return carriesOut && (action.server.labels.includes(EGRESS) || (hasHints && isPossible(action, 'openWorldHint')))
}

const guard = (id: string, effect: Effect, text: string): Reason => ({ id, layer: 'built-in', effect, text })
