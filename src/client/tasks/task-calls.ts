/** Calls as tasks, tasks that are resumed, and the list of tasks. Loaded with the first task of a client. */

import { isObject } from '../../base/json.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Progress } from '../../protocol/model/progress.ts'
import { relatedTask, TASKS } from '../../protocol/model/tasks.ts'
import type { CallOptions } from '../options.ts'
import type { CallSource } from '../tool-calls.ts'
import { isTask, type ToolResult, withContent } from '../tool-results.ts'
import { finishedTask } from './finished-task.ts'
import { FollowedTask } from './followed-task.ts'
import type { ResumeTaskOptions, TaskCallOptions, TaskHandle, TaskState } from './task-handle.ts'
import { readTask, type TaskView } from './task-view.ts'

/** What calls as tasks share with plain calls. */
export interface PlainCalls {
  /** What to add to the params of a call that should run as a task; undefined if nothing. */
  wish(name: string, isPreferred: boolean, ttlMs?: number): Promise<Params> | undefined
  send(params: Params, options: CallOptions): Promise<Params>
  /** Checks the result of a tool. */
  read(name: string, result: Params): ToolResult | Promise<ToolResult>
}

interface Following {
  call: CallOptions
  /** When the call began; undefined for tasks that are resumed. */
  startedAt?: number | undefined
  isOwned: boolean
  read(result: Params): ToolResult | Promise<ToolResult>
}

export class TaskCalls {
  readonly #source: CallSource
  readonly #plain: PlainCalls
  readonly #followed = new Set<FollowedTask>()
  readonly #awaited = new Set<unknown>()

  constructor(source: CallSource, plain: PlainCalls) {
    this.#source = source
    this.#plain = plain
  }

  async call(name: string, args: Params, options: TaskCallOptions): Promise<TaskHandle> {
    const startedAt = this.#source.settings.clock.now()
    let progress: Progress | undefined
    const onProgress = (given: Progress): void => {
      progress = given
      options.onProgress?.(given)
    }
    const call = { ...options, onProgress }
    const params = { name, arguments: args, ...(await this.#plain.wish(name, true, options.ttlMs)) }
    const answer = await this.#plain.send(params, call)
    const read = (result: Params): ToolResult | Promise<ToolResult> => this.#plain.read(name, result)
    if (!isTask(answer, params)) return finishedTask(await read(answer), progress)
    return this.#begin(answer, { call, startedAt, isOwned: false, read })
  }

  /** The result of a call that became a task. */
  settle(answer: Params, following: Omit<Following, 'isOwned'>): Promise<ToolResult> {
    return this.#begin(answer, { ...following, isOwned: true }).result()
  }

  /** Throws ERR_CAPABILITY_MISSING if the server has no tasks. */
  async resume(id: string, options: ResumeTaskOptions): Promise<TaskHandle> {
    const { connection, settings } = this.#source
    const { revision, server } = connection.dialect
    const { extensions, tasks } = server.capabilities
    const isOffered = revision.tasks === 'requested' ? isObject(tasks) : isObject(extensions?.[TASKS])
    if (!settings.hasTasks || revision.tasks === undefined || !isOffered) {
      const lacking = revision.tasks ? 'the server' : `protocol revision ${revision.version}`
      const why = settings.hasTasks ? `which ${lacking} does not have` : 'which this client has switched off'
      throw new McpError('ERR_CAPABILITY_MISSING', `tasks/get needs tasks, ${why}`)
    }
    const { tool, timeoutMs, signal } = options
    const once = { ...(timeoutMs !== undefined && { timeoutMs }), ...(signal && { signal }) }
    const view = readTask('The result of tasks/get', await connection.request('tasks/get', { taskId: id }, once), id)
    const read = (result: Params): ToolResult | Promise<ToolResult> =>
      tool === undefined ? (withContent('of the task', result) as ToolResult) : this.#plain.read(tool, result)
    return this.#follow(view, { call: options, isOwned: false, read })
  }

  /** A page of the tasks of this caller. Throws ERR_CAPABILITY_MISSING where they cannot be listed. */
  async list(cursor: string | undefined, options: CallOptions): Promise<Params> {
    const { connection } = this.#source
    const { revision, server } = connection.dialect
    if (revision.tasks !== 'requested' || !isObject(server.capabilities.tasks?.list)) {
      const why =
        revision.tasks === 'requested'
          ? 'which the server did not declare: it has no tasks, or cannot tell its callers apart'
          : `which protocol revision ${revision.version} does not have; keep the ids of your tasks`
      throw new McpError('ERR_CAPABILITY_MISSING', `tasks/list needs the server capability tasks.list, ${why}`)
    }
    const page = await connection.request('tasks/list', cursor === undefined ? {} : { cursor }, options)
    if (!Array.isArray(page.tasks)) throw new McpError('ERR_ANSWER_INVALID', 'The result of tasks/list has no tasks')
    const tasks = page.tasks.map((task: unknown): TaskState => {
      const { pollIntervalMs: _, details: __, ...state } = readTask('The result of tasks/list', task)
      return { ...state, progress: undefined }
    })
    return { ...page, tasks }
  }

  /** Takes a notification of the server, which may be about a task. */
  notice(method: string, params: Params): void {
    if (this.#followed.size === 0) return
    const id = params.taskId ?? relatedTask(params)
    for (const task of this.#followed) if (task.id === id) task.notice(method, params)
  }

  #begin(answer: Params, following: Following): FollowedTask {
    return this.#follow(readTask('The result of tools/call', answer.resultType === 'task' ? answer : answer.task), following)
  }

  #follow(view: TaskView, following: Following): FollowedTask {
    const { settings, connection, watching } = this.#source
    const { dialect } = connection
    const { limits, clock } = settings
    const { call, startedAt = clock.now() } = following
    const { maxTotalMs, maxTotalMs: limitMs = limits.maxTaskMs } = call
    const maxMs = maxTotalMs === undefined ? limitMs : startedAt + maxTotalMs - clock.now()
    const task = new FollowedTask(
      {
        settings,
        server: dialect.server,
        isExtension: dialect.revision.tasks === 'extension',
        awaited: this.#awaited,
        request: (method, params, options) => connection.request(method, params, options),
        listen: (id) => watching.onMember('taskIds', [id]),
      },
      view,
      { ...following, maxMs, limitMs, onOver: (over) => this.#followed.delete(over) },
    )
    if (!task.isOver) this.#followed.add(task)
    return task
  }
}
