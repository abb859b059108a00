/** Whom a task belongs to. */

import type { TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { IncomingCall } from '../incoming-call.ts'

const PREFIX = 'principal '

/** Empty without authentication: then the id of a task is the only secret. */
export const ownerOf = ({ caller: { principal } }: IncomingCall): string => (principal === undefined ? '' : `${PREFIX}${principal}`)

/** Whether anyone could be the caller: over HTTP without authentication. Other connections have no address. */
export const isAnonymous = ({ caller: { principal }, quota }: IncomingCall): boolean =>
  principal === undefined && quota.taskAccount !== undefined

export const principalOf = ({ owner }: Pick<TaskRecord, 'owner'>): string | undefined =>
  owner === '' ? undefined : owner.slice(PREFIX.length)

/** What identifies a task in this process. */
export type TaskKey = Pick<TaskRecord, 'owner' | 'taskId'>

export const keyOf = ({ owner, taskId }: TaskKey): string => `${taskId} ${owner}`
