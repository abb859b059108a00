/** Built-in checks that no rule can disable. */

import type { Action, ActionKind, Effect, Reason } from '../model/action.ts'
import { EGRESS, isPrivate, SKILL, UNTRUSTED } from '../model/label.ts'
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
export const isForServer = (rule: Rule, { server }: Action): boolean => !server.isOfProject || rule.match.tier !== undefined

/** Whether a rule of the person may allow this action. No rule may start, connect or approve a server of a project. */
export const isMeant = ({ rule }: CompiledRule, action: Action): boolean =>
  isForServer(rule, action) && !(action.server.isOfProject && DEFAULTS[action.kind].defiesBypass)

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
  if (isDangerous(action.labels) && isOutward(action)) {
    const secrets = action.labels.filter(isPrivate)
    const text = `The conversation contains untrusted text and private data (${secrets.join(', ')}), and ${action.server.id} can send data out`
    reasons.push(guard('data-flow', 'ask', text))
  }
  if (mayLoop && action.initiator !== 'user' && action.usage.identicalInARow >= LOOP_AT) {
    reasons.push(
      guard('loop', 'ask', `The same action was requested ${action.usage.identicalInARow} times in a row, with the same arguments`),
    )
  }
  if (isOnlyAboutSkills(action)) reasons.push(guard('skill', 'ask', 'Only you can approve a skill: it tells models what to do'))
  const others = skillsOfOthers(action)
  if (others.length > 0) {
    const text = `The conversation uses a skill of ${others.join(', ')}, which may have caused this read from ${action.server.id}`
    reasons.push(guard('skill-origin', 'ask', text))
  }
  if (isForced) reasons.push(guard('person', 'ask', 'Only a person can answer this'))
  return reasons
}

/** Whether an approval is for skills and nothing else. Its items are `kind name`. */
function isOnlyAboutSkills({ kind, args: { items } }: Action): boolean {
  return kind === 'server.approve' && Array.isArray(items) && items.length > 0 && items.every((item) => String(item).startsWith('skill '))
}

/** The servers of skills in the conversation, other than the one that is read from. A skill may name only files of its own server. */
function skillsOfOthers({ kind, initiator, labels, server }: Action): string[] {
  if (initiator === 'user' || (kind !== 'resource.read' && kind !== 'resource.subscribe')) return []
  return labels.flatMap((label) => (label.startsWith(SKILL) && label !== `${SKILL}${server.id}` ? [label.slice(SKILL.length)] : []))
}

/** Whether an action can send data to a place that the person does not control. */
function isOutward(action: Action): boolean {
  const { carriesOut, hasHints } = DEFAULTS[action.kind]
  if (!carriesOut) return false
  if (action.server.labels.includes(EGRESS)) return true
  return hasHints ? isPossible(action, 'openWorldHint') : action.server.tier !== 'trusted' && carriesText(action)
}

/**
 * Whether a request without hints can tell its server something. The address of a listed resource and a prompt without arguments tell
 * it nothing. Words of the person count only if they repeat private text: suggestions are requested at every key.
 */
function carriesText({ initiator, primitive, args, hasPrivateText }: Action): boolean {
  if (hasPrivateText) return true
  const isListed = primitive?.kind === 'resource' || primitive?.kind === 'skill'
  return initiator !== 'user' && !isListed && Object.keys(args).length > 0
}

/** Untrusted text may ask for the private data. */
const isDangerous = (labels: readonly string[]): boolean => labels.includes(UNTRUSTED) && labels.some(isPrivate)

/** Whether decisions depend on private text in the arguments. The search for it costs time. */
export const mayCarryPrivateText = (kind: ActionKind, labels: readonly string[]): boolean =>
  DEFAULTS[kind].carriesOut && !DEFAULTS[kind].hasHints && isDangerous(labels)

const guard = (id: string, effect: Effect, text: string): Reason => ({ id, layer: 'built-in', effect, text })
