/** A task as the commands write it with `--json`. */

import type { HostTaskState, TaskRecord } from '../../host/index.ts'

/** Without the members that only hosts need. */
export function shownTask(task: TaskRecord | HostTaskState, isFollowed: boolean): object {
  const { id, server, tool, taskId, status, statusMessage, progress, chain, args, startedAt, updatedAt, endedAt, expiresAt } = task
  const times = { startedAt, updatedAt, ...(endedAt !== undefined && { endedAt }), ...(expiresAt !== undefined && { expiresAt }) }
  return {
    id,
    server,
    tool,
    ...(taskId !== undefined && { taskId }),
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    ...(progress && { progress }),
    isFollowed,
    chain,
    args,
    ...times,
  }
}
