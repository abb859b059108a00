/** The record of a new task. */

import { randomId } from '../../base/bytes.ts'
import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { TaskRecord } from '../../protocol/interfaces/task-record.ts'
import { TASKS } from '../../protocol/model/tasks.ts'
import { requireExtension } from '../declared-extension.ts'
import type { IncomingCall } from '../incoming-call.ts'
import type { Quota } from '../quota.ts'
import type { TaskRules, TaskTool } from './hook.ts'
import type { TaskSettings } from './options.ts'
import { isAnonymous, ownerOf } from './owner.ts'

type Given = Pick<TaskRecord, 'tool' | 'account' | 'ttlMs' | 'pollIntervalMs' | 'journal' | 'lease'>

export function newTask(call: IncomingCall, given: Given, now: number): TaskRecord {
  const { client, capabilities, auth, revision } = call.caller
  // The answers and the state of earlier rounds are in the journal.
  const { task: _, inputResponses: __, requestState: ___, ...params } = call.params
  return {
    taskId: randomId(),
    owner: ownerOf(call),
    edition: 1,
    params,
    caller: { client, capabilities, auth, revision },
    status: 'working',
    createdAt: now,
    updatedAt: now,
    questions: {},
    received: {},
    runs: 1,
    ...given,
  }
}

/** Throws if the call cannot become a task: the tool, the revision or the client does not allow it. */
export function refuseIfImpossible(call: IncomingCall, { name, rules }: TaskTool, wish: unknown): void {
  const { revision } = call
  const what = `The tool ${JSON.stringify(name)}`
  if (wish !== undefined && !rules) throw new McpError('ERR_METHOD_NOT_FOUND', `${what} does not run as a task`)
  if (revision.tasks === 'extension') return requireExtension(call, TASKS, what)
  if (wish !== undefined) return
  const remedy = revision.tasks === 'requested' ? '; ask for one' : `, and protocol revision ${revision.version} has no tasks`
  throw new McpError('ERR_METHOD_NOT_FOUND', `${what} runs only as a task${remedy}`)
}

/** The shortest time that a client may ask for. A client cannot get the result of a task that is kept for less. */
const MIN_TTL_MS = 1000

/** How long a task is kept. A client may ask for less or more, within limits. Throws ERR_INVALID_PARAMS for an invalid wish. */
export function ttlFor(call: IncomingCall, wish: unknown, { ttlMs: ofTool }: TaskRules, settings: TaskSettings): number {
  const { ttlMs } = settings
  const maxTtlMs = isAnonymous(call) ? Math.min(settings.maxAnonymousTtlMs, settings.maxTtlMs) : settings.maxTtlMs
  const usual = ofTool ?? ttlMs
  if (wish === undefined) return usual
  if (!isObject(wish)) throw new McpError('ERR_INVALID_PARAMS', 'params.task must be an object')
  const { ttl } = wish
  if (ttl === undefined) return usual
  if (typeof ttl !== 'number' || !(ttl >= 0))
    throw new McpError('ERR_INVALID_PARAMS', `params.task.ttl must be a number of milliseconds, not ${JSON.stringify(ttl)}`)
  return Math.min(Math.max(Math.min(usual, MIN_TTL_MS), Math.round(ttl)), Math.max(usual, maxTtlMs))
}

/** Whose tasks are counted together: those of a principal, otherwise those of an address, or of a connection without one. */
export class Accounts {
  readonly #names = new WeakMap<Quota, string>()

  of(call: IncomingCall): string {
    const owner = ownerOf(call)
    if (owner !== '') return owner
    // Other replicas know an address by the same name.
    const account = call.quota.taskAccount ?? this.#names.get(call.quota) ?? randomId()
    this.#names.set(call.quota, account)
    return account
  }
}
