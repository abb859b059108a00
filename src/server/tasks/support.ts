/** The extension for tasks, as a server has it. */

import type { Params } from '../../jsonrpc/message.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ServerCapabilities } from '../../protocol/model/lifecycle.ts'
import { TASKS } from '../../protocol/model/tasks.ts'
import type { Revision } from '../../revisions/revision.ts'
import type { AcceptedMember, Addition, ServerExtension } from '../addition.ts'
import { declaredSettings } from '../declared-extension.ts'
import type { IncomingCall } from '../incoming-call.ts'
import type { ServerState } from '../server-state.ts'
import { acceptTaskIds } from './accept-task-ids.ts'
import { TaskEngine } from './engine.ts'
import type { TaskDefinition, TaskHook, TaskRules, TaskTool } from './hook.ts'
import { isTaskMethod, runTaskMethod } from './methods.ts'
import type { TaskOptions } from './options.ts'

/**
 * Lets tools run as tasks: for clients that ask for it, and for clients that have the extension for tasks. Call it before you define
 * the tools.
 *
 * @example
 * server.extend(tasks())
 * server.tool('report', { task: 'optional' }, async (_args, ctx) => buildReport(ctx.signal))
 */
export function tasks(options: TaskOptions = {}): ServerExtension {
  checkMembers('tasks', options, {
    store: 1,
    ttlMs: 1,
    maxTtlMs: 1,
    maxAnonymousTtlMs: 1,
    pollIntervalMs: 1,
    afterMs: 1,
    leaseMs: 1,
    limits: 1,
    onChange: 1,
  })
  const { store, ttlMs, maxTtlMs, maxAnonymousTtlMs, pollIntervalMs, afterMs, leaseMs, onChange } = options
  checkTimes('tasks', { ttlMs, maxTtlMs, maxAnonymousTtlMs, pollIntervalMs, afterMs, leaseMs })
  if (store !== undefined && typeof store.create !== 'function')
    throw new McpError('ERR_DEFINITION', `tasks: store must be a TaskStore such as fileTaskStore(folder), not ${JSON.stringify(store)}`)
  if (onChange !== undefined && typeof onChange !== 'function')
    throw new McpError('ERR_DEFINITION', `tasks: onChange must be a function, not ${JSON.stringify(onChange)}`)
  return { id: TASKS, install: (serverState) => new TaskSupport(serverState, options) }
}

function checkTimes(where: string, times: Record<string, number | undefined>): void {
  for (const [name, ms] of Object.entries(times))
    if (ms !== undefined && !(Number.isSafeInteger(ms) && ms >= 0))
      throw new McpError('ERR_DEFINITION', `${where}: ${name} must be a whole number of milliseconds, not ${JSON.stringify(ms)}`)
}

class TaskSupport implements Addition, TaskHook {
  readonly id = TASKS
  readonly settings = {}
  readonly tasks: TaskHook = this
  readonly #engine: TaskEngine

  constructor(serverState: ServerState, options: TaskOptions) {
    this.#engine = new TaskEngine(serverState, options)
  }

  readonly isIn: Addition['isIn'] = ({ tasks: form }) => form === 'extension'

  capabilities(revision: Revision, isIdentified: boolean): Partial<ServerCapabilities> {
    if (revision.tasks !== 'requested') return {}
    return { tasks: { ...(isIdentified ? { list: {} } : {}), cancel: {}, requests: { tools: { call: {} } } } }
  }

  start(): void {
    // A failure is reported to the caller of the first request about tasks.
    this.#engine.start().catch(() => {})
  }

  close(): Promise<void> {
    return this.#engine.close()
  }

  get running(): number {
    return this.#engine.running
  }

  handOver(): Promise<void> {
    return this.#engine.handOver()
  }

  takeOverAgain(): void {
    this.#engine.takeOverAgain()
  }

  whenIdle(): Promise<void> {
    return this.#engine.whenIdle()
  }

  endShared(): Promise<void> {
    return this.#engine.endShared()
  }

  has(method: string): boolean {
    return isTaskMethod(method)
  }

  run(call: IncomingCall): Promise<Params> | undefined {
    if (!call.method.startsWith('tasks/') || call.revision.tasks === undefined) return undefined
    return runTaskMethod(call, this.#engine)
  }

  accept(call: IncomingCall): Promise<AcceptedMember | undefined> {
    return acceptTaskIds(call, this.#engine)
  }

  rules(where: string, { task = 'forbidden', taskAfterMs, taskTtlMs, restartable = false }: TaskDefinition): TaskRules | undefined {
    const isOffered = task === 'optional' || task === 'required'
    if (!isOffered && task !== 'forbidden')
      throw new McpError('ERR_DEFINITION', `${where}: task must be "optional", "required" or "forbidden", not ${JSON.stringify(task)}`)
    checkTimes(where, { taskAfterMs, taskTtlMs })
    return isOffered ? { isRequired: task === 'required', afterMs: taskAfterMs, ttlMs: taskTtlMs, isRestartable: restartable } : undefined
  }

  concerns(call: IncomingCall, rules: TaskRules | undefined): boolean {
    if (rules?.isRequired) return true
    if (call.revision.tasks === 'requested') return call.params.task !== undefined
    return rules !== undefined && this.isIn(call.revision) && declaredSettings(call, TASKS) !== undefined
  }

  call(call: IncomingCall, tool: TaskTool): Promise<Params> {
    return this.#engine.call(call, tool)
  }
}
