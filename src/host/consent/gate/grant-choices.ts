/** The scopes and widths that a question offers. */

import type { Action, ActionKind, Decision } from '../../model/action.ts'
import type { GrantScope } from '../../model/grant.ts'
import type { AlwaysChoice, GrantWidth, Subject } from '../../model/question.ts'
import type { GrantBounds } from '../grant-bounds.ts'
import { isExactPattern } from '../grants/proposed-pattern.ts'
import { isConsequential } from '../guards.ts'
import type { ActionRequest } from './request.ts'

/** Actions that repeat with other arguments, for which a pattern would be meaningless. */
const REPEATED: ReadonlySet<ActionKind> = new Set<ActionKind>([
  'resource.read',
  'resource.subscribe',
  'prompt.get',
  'argument.complete',
  'sampling.create',
  'sampling.deliver',
])

/** Starting servers, approving offerings and sharing folders are approved exactly as shown. */
export function offeredWidths({ kind }: Action, { isForced }: Decision): readonly GrantWidth[] {
  if (isForced) return ['exact']
  if (kind === 'tool.call') return ['exact', 'pattern', 'any']
  return REPEATED.has(kind) ? ['exact', 'any'] : ['exact']
}

/** The widths that a question shows. A pattern that covers only these arguments would be the same choice twice. */
export const shownWidths = (action: Action, decision: Decision, subject: Subject): readonly GrantWidth[] =>
  offeredWidths(action, decision).filter((width) => width !== 'pattern' || subject.kind !== 'call' || !isExactPattern(subject.pattern))

/** Starting a server is proposed for as long as possible: the grant ends when the program, its files or its address change. */
export function offeredScopes({ kind }: Action, scopes: readonly GrantScope[]): readonly GrantScope[] {
  const longest = scopes.at(-1)
  if (!isStart(kind) || longest === undefined) return scopes
  return [longest, ...scopes.slice(0, -1)]
}

/**
 * What "Always allow" covers. Undefined where a rule, or a forced question, forbids a lasting grant, and for starting a server, where
 * the plain yes lasts.
 */
export function alwaysChoice(action: Action, { isForced }: Decision, bounds: GrantBounds, now: number): AlwaysChoice | undefined {
  const { scopes, wideScopes, maxTtlMs, maxUses } = bounds
  if (isForced || isStart(action.kind) || maxUses !== undefined || !scopes.includes('always')) return undefined
  const width = isHarmless(action) && wideScopes.includes('always') ? 'any' : 'exact'
  return { scope: 'always', width, ...(maxTtlMs !== undefined && { expiresAt: now + maxTtlMs }) }
}

const isStart = (kind: ActionKind): boolean => kind === 'server.launch' || kind === 'server.connect'

/**
 * Whether "Always allow" may cover any arguments of a tool: neither the server nor the operator says that it destroys something or sends
 * something out. On an untrusted server, the operator or the server must also say that the tool only reads. A claim of the server is
 * enough, because the person decides.
 */
const isHarmless = (action: Action): boolean =>
  action.kind === 'tool.call' &&
  !isConsequential(action) &&
  (action.server.tier === 'trusted' || (action.asserted.readOnlyHint ?? action.claimed.readOnlyHint) === true)

/** The bounds of the rules, shortened for requests that are `isPassing`. */
export function boundsFor({ isPassing }: ActionRequest, bounds: GrantBounds): GrantBounds {
  if (!isPassing) return bounds
  const passing = (scopes: readonly GrantScope[]): GrantScope[] => scopes.filter((scope) => scope !== 'project' && scope !== 'always')
  return { ...bounds, scopes: passing(bounds.scopes), wideScopes: passing(bounds.wideScopes) }
}
