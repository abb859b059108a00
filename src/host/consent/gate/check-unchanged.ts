/** Between a decision and what is done about it the world goes on: whether it is still about the same. */

import { McpError } from '../../../protocol/errors.ts'
import type { Action } from '../../model/action.ts'
import { nameOf } from './refusal.ts'

type Wanted = Pick<Action, 'kind' | 'server' | 'primitive'>

/** Whether a server, and what is wanted of it, are those that were decided about. */
export const isUnchanged = (now: Wanted, then: Wanted): boolean =>
  now.kind === then.kind &&
  now.server.id === then.server.id &&
  now.server.fingerprint === then.server.fingerprint &&
  now.primitive?.name === then.primitive?.name &&
  now.primitive?.pin === then.primitive?.pin

/** In the moment in which it is done; what was approved, or configured, may be so no longer. */
export function checkUnchanged(now: Wanted, decided: Action): void {
  const { primitive, server } = decided
  if (!isUnchanged(now, decided) || now.primitive?.state !== primitive?.state || now.server.isKnown !== server.isKnown)
    throw changed(decided)
}

export const changed = (action: Action): McpError =>
  new McpError('ERR_QUARANTINED', `${nameOf(action)} is not what it was when it was decided about`, {
    data: { server: action.server.id, primitive: action.primitive?.name },
  })
