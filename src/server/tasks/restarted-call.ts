/** The call of a task that runs again in another process. Its client is not there, but may ask for the task. */

import { Exchange } from '../../jsonrpc/exchange.ts'
import { McpError } from '../../protocol/errors.ts'
import type { TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { Revision } from '../../revisions/revision.ts'
import { type Dialect, IncomingCall } from '../incoming-call.ts'
import type { ServerState } from '../server-state.ts'
import { principalOf } from './owner.ts'

/** Undefined if this server no longer speaks the revision of the call. */
export function restartedCall(task: TaskRecord, serverState: ServerState): IncomingCall | undefined {
  const { params, caller } = task
  const revision = revisionOf(caller.revision, serverState)
  if (!revision) return undefined
  const { client, capabilities, auth: sender } = caller
  const principal = principalOf(task)
  const dialect: Dialect = {
    caller: () => ({ principal, client, capabilities, revision: caller.revision }),
    logLevel: () => undefined,
    method: () => undefined,
    asker: () => {
      throw new McpError('ERR_ASK', 'A task asks through its record')
    },
    requirePages: (_call, error) => Promise.reject(error),
  }
  const outlet = { push: () => undefined, answer: () => {}, drop: () => {}, sender }
  const exchange = new Exchange({ kind: 'request', id: task.taskId, method: 'tools/call', params }, outlet, () => {})
  return new IncomingCall(exchange, params, revision, dialect, serverState.quotas.of(task.account))
}

function revisionOf(date: string, serverState: ServerState): Revision | undefined {
  try {
    return serverState.revision(date)
  } catch {
    return undefined
  }
}
