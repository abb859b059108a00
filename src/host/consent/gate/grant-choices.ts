/** The scopes and widths that a question offers. */

import type { Action, ActionKind, Decision } from '../../model/action.ts'
import type { GrantScope } from '../../model/grant.ts'
import type { GrantWidth } from '../../model/question.ts'
import type { GrantBounds } from '../grant-bounds.ts'
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

/** Starting a server is proposed for the conversation, so that a restart after a crash asks no question. */
export function offeredScopes({ kind }: Action, scopes: readonly GrantScope[]): readonly GrantScope[] {
  if ((kind !== 'server.launch' && kind !== 'server.connect') || !scopes.includes('session')) return scopes
  return ['session', ...scopes.filter((scope) => scope !== 'session')]
}

/** The bounds of the rules, shortened for requests that are `isPassing`. */
export const boundsFor = ({ isPassing }: ActionRequest, bounds: GrantBounds): GrantBounds =>
  isPassing ? { ...bounds, scopes: bounds.scopes.filter((scope) => scope !== 'project' && scope !== 'always') } : bounds
