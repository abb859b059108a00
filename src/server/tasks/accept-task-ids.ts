/** `subscriptions/listen` with `taskIds`: clients that hear of their tasks instead of asking. */

import { isObject } from '../../base/json.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import { TASKS } from '../../protocol/model/tasks.ts'
import type { AcceptedMember } from '../addition.ts'
import { requireExtension } from '../declared-extension.ts'
import type { IncomingCall } from '../incoming-call.ts'
import type { TaskEngine } from './engine.ts'
import { ownerOf } from './owner.ts'

/** The tasks that a listen request may hear of; undefined if it does not ask for tasks. */
export async function acceptTaskIds(call: IncomingCall, engine: TaskEngine): Promise<AcceptedMember | undefined> {
  const wanted = isObject(call.params.notifications) ? call.params.notifications.taskIds : undefined
  if (wanted === undefined || call.revision.tasks !== 'extension') return undefined
  requireExtension(call, TASKS)
  const max = engine.serverState.limits.maxSubscriptions
  if (!Array.isArray(wanted) || wanted.some((id) => typeof id !== 'string'))
    throw new McpError('ERR_INVALID_PARAMS', 'params.notifications.taskIds must be a list of task ids')
  if (wanted.length > max)
    throw new McpError('ERR_LIMIT', `Too many tasks: at most ${max} (limits.maxSubscriptions)`, {
      data: { reason: 'limit', limit: 'maxSubscriptions', max },
    })
  await engine.start()
  const found = await Promise.all([...new Set(wanted as string[])].map((taskId) => engine.table.read({ owner: ownerOf(call), taskId })))
  const ids = new Set(found.flatMap((task) => (task ? [task.taskId] : [])))
  const matches = (_method: string, params: Params): boolean => ids.has(params.taskId as string)
  return { id: TASKS, name: 'taskIds', value: [...ids], matches }
}
