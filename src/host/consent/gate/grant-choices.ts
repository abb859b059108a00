/** For what, and for how long, a person is offered that their yes holds. */

import type { Action, ActionKind, Decision } from '../../model/action.ts'
import type { GrantScope } from '../../model/grant.ts'
import type { GrantWidth } from '../../model/question.ts'

/** What comes again and again with other words; a pattern of those would mean nothing. */
const REPEATED: ReadonlySet<ActionKind> = new Set<ActionKind>([
  'resource.read',
  'resource.subscribe',
  'prompt.get',
  'argument.complete',
  'sampling.create',
  'sampling.deliver',
])

/** Who is let in, what of them, and which folders they get is never a matter of more than what was shown. */
export function widthsFor({ kind }: Action, { isForced }: Decision): readonly GrantWidth[] {
  if (isForced) return ['exact']
  if (kind === 'tool.call') return ['exact', 'pattern', 'any']
  return REPEATED.has(kind) ? ['exact', 'any'] : ['exact']
}

/** A server that crashed is started again without a question, as long as it is the same, where the person leaves the proposal. */
export function proposed({ kind }: Action, scopes: readonly GrantScope[]): readonly GrantScope[] {
  if ((kind !== 'server.launch' && kind !== 'server.connect') || !scopes.includes('session')) return scopes
  return ['session', ...scopes.filter((scope) => scope !== 'session')]
}
