/** Checks that server and definition are unchanged between decision and execution. */

import { McpError } from '../../../protocol/errors.ts'
import type { Action } from '../../model/action.ts'
import { actionName } from './action-words.ts'

type Target = Pick<Action, 'kind' | 'server' | 'primitive'>

/** Whether both are the same action on the same server and definition. */
export const isUnchanged = (now: Target, then: Target): boolean =>
  now.kind === then.kind &&
  now.server.id === then.server.id &&
  now.server.fingerprint === then.server.fingerprint &&
  now.primitive?.name === then.primitive?.name &&
  now.primitive?.pin === then.primitive?.pin

/**
 * Called right before an action is performed. In addition to `isUnchanged`, the definition must have the same approval state, and the
 * server must still be configured.
 */
export function checkUnchanged(now: Target, decided: Action): void {
  const { primitive, server } = decided
  if (!isUnchanged(now, decided) || now.primitive?.state !== primitive?.state || now.server.isKnown !== server.isKnown)
    throw changed(decided)
}

export const changed = (action: Action): McpError =>
  new McpError('ERR_QUARANTINED', `${actionName(action)} changed after it was decided`, {
    data: { server: action.server.id, primitive: action.primitive?.name },
  })
