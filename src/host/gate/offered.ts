/** For what, and for how long, a person is offered that their yes holds. */

import type { GrantWidth } from '../ask/question.ts'
import type { Action, Decision } from '../consent/action.ts'
import type { GrantScope } from '../grants/grant.ts'

/** Only the arguments of a tool are for others to choose; of anything else a yes is for just this. */
export const widthsFor = ({ kind }: Action, { isForced }: Decision): readonly GrantWidth[] =>
  isForced || kind !== 'tool.call' ? ['exact'] : ['exact', 'pattern', 'any']

/** A server that crashed is started again without a question, as long as it is the same, where the person leaves the proposal. */
export function proposed({ kind }: Action, scopes: readonly GrantScope[]): readonly GrantScope[] {
  if ((kind !== 'server.launch' && kind !== 'server.connect') || !scopes.includes('session')) return scopes
  return ['session', ...scopes.filter((scope) => scope !== 'session')]
}
