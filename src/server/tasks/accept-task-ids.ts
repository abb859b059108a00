/** `subscriptions/listen` with `taskIds`: clients that hear of their tasks instead of asking. */

import { isObject } from '../../base/json.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import { permits } from '../../protocol/interfaces/access.ts'
import type { InputRequests } from '../../protocol/model/input-required.ts'
import { TASKS } from '../../protocol/model/tasks.ts'
import type { AcceptedMember } from '../addition.ts'
import { requireExtension } from '../declared-extension.ts'
import type { IncomingCall } from '../incoming-call.ts'
import { lacking } from './answerable.ts'
import type { TaskEngine } from './engine.ts'
import { ownerOf } from './owner.ts'

/** More tasks than this count as several requests: clients name all tasks that they follow whenever there is one more. */
const IDS_OF_ONE_REQUEST = 50

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
  const ids = new Set(wanted as string[])
  await engine.admit(call, Math.ceil(ids.size / IDS_OF_ONE_REQUEST))
  const owner = ownerOf(call)
  /** The tool of each task. */
  const tools = new Map<string, string>()
  const mayUse = (tool: string | undefined): boolean => tool !== undefined && permits(call.access, engine.serverState.tools.scopesOf(tool))
  for (const taskId of ids) {
    const task = await engine.table.head({ owner, taskId })
    if (task && mayUse(task.tool)) tools.set(taskId, task.tool)
  }
  const { capabilities } = call.caller
  // Scopes are checked again, because a tool may need others by now. Questions go only to clients that can answer them.
  const matches = (_method: string, { taskId, inputRequests = {} }: Params): boolean =>
    mayUse(tools.get(taskId as string)) && !Object.values(inputRequests as InputRequests).some((each) => lacking(each, capabilities))
  return { id: TASKS, name: 'taskIds', value: [...tools.keys()], matches }
}
