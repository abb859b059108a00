/** The tasks of one client. The code that follows a task is loaded with the first task. */

import { isObject } from '../../base/json.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Progress } from '../../protocol/model/progress.ts'
import { relatedTask, TASKS } from '../../protocol/model/tasks.ts'
import type { ClientDialect } from '../dialect/dialect.ts'
import type { CallOptions } from '../options.ts'
import type { Settings } from '../settings.ts'
import type { ToolResult } from '../tool-results.ts'
import type { FollowedTask } from './followed-task.ts'
import type { TaskHandle, TaskState } from './task-handle.ts'
import type { TaskView } from './task-view.ts'

/** The part of a client that its tasks need. */
export interface TaskSource {
  readonly settings: Settings
  readonly dialect: ClientDialect
  request(method: string, params: Params, options: CallOptions): Promise<Params>
}

interface Following {
  call: CallOptions
  /** When the call began; undefined for tasks that are resumed. */
  startedAt?: number | undefined
  isOwned: boolean
  read(result: Params): ToolResult | Promise<ToolResult>
}

const load = (): Promise<typeof import('./load.ts')> => import('./load.ts')

export class ClientTasks {
  readonly #source: TaskSource
  readonly #supportOf: (tool: string) => Promise<unknown>
  readonly #followed = new Set<FollowedTask>()

  /** @param supportOf what the definition of a tool says about tasks */
  constructor(source: TaskSource, supportOf: (tool: string) => Promise<unknown>) {
    this.#source = source
    this.#supportOf = supportOf
  }

  /**
   * What to add to the params of a call, so that it runs as a task where it has to. Undefined if nothing has to be found out.
   *
   * @param isPreferred whether a task is wanted if the tool allows it
   */
  wish(name: string, isPreferred: boolean, ttlMs?: number): Promise<Params> | undefined {
    const { revision, server } = this.#source.dialect
    if (revision.tasks !== 'requested' || !this.#source.settings.hasTasks || !isObject(server.capabilities.tasks?.requests?.tools?.call))
      return undefined
    return this.#supportOf(name).then(async (support) => {
      if (support !== 'required' && !(isPreferred && support === 'optional')) return {}
      // Before the call, so that no notification about the task is missed.
      await load()
      return { task: ttlMs === undefined ? {} : { ttl: ttlMs } }
    })
  }

  /** Whether the answer to a call is a task. */
  isTask(result: Params, params: Params): boolean {
    return result.resultType === 'task' || (params.task !== undefined && isObject(result.task))
  }

  /** Follows the task in the answer to a call. */
  async begin(answer: Params, following: Following): Promise<FollowedTask> {
    const { readTask } = await load()
    return this.#follow(readTask('The result of tools/call', answer.resultType === 'task' ? answer : answer.task), following)
  }

  /** The handle of a call that was answered at once. */
  async finished(result: ToolResult, progress: Progress | undefined): Promise<TaskHandle> {
    return (await load()).finishedTask(result, progress)
  }

  /** The result of a call that became a task. */
  async settle(answer: Params, following: Omit<Following, 'isOwned'>): Promise<ToolResult> {
    return (await this.begin(answer, { ...following, isOwned: true })).result()
  }

  /** Follows a task that was begun before. */
  async resume(id: string, following: Following): Promise<TaskHandle> {
    this.#require('tasks/get')
    const { readTask } = await load()
    const { timeoutMs, signal } = following.call
    const options = { ...(timeoutMs !== undefined && { timeoutMs }), ...(signal && { signal }) }
    return this.#follow(
      readTask('The result of tasks/get', await this.#source.request('tasks/get', { taskId: id }, options), id),
      following,
    )
  }

  /** A page of the tasks of this caller. */
  async list(cursor: string | undefined, options: CallOptions): Promise<Params> {
    const { revision, server } = this.#source.dialect
    if (revision.tasks !== 'requested' || !isObject(server.capabilities.tasks?.list)) {
      const why =
        revision.tasks === 'requested'
          ? 'which the server did not declare: it cannot tell its callers apart'
          : `which protocol revision ${revision.version} does not have; keep the ids of your tasks`
      throw new McpError('ERR_CAPABILITY_MISSING', `tasks/list needs the server capability tasks.list, ${why}`)
    }
    const [page, { readTask }] = await Promise.all([
      this.#source.request('tasks/list', cursor === undefined ? {} : { cursor }, options),
      load(),
    ])
    if (!Array.isArray(page.tasks)) throw new McpError('ERR_ANSWER_INVALID', 'The result of tasks/list has no tasks')
    const tasks = page.tasks.map((task: unknown): TaskState => {
      const { pollIntervalMs: _, details: __, ...state } = readTask('The result of tasks/list', task)
      return { ...state, progress: undefined }
    })
    return { ...page, tasks }
  }

  notice(method: string, params: Params): void {
    if (this.#followed.size === 0) return
    const id = params.taskId ?? relatedTask(params)
    for (const task of this.#followed) if (task.id === id) task.notice(method, params)
  }

  async #follow(view: TaskView, following: Following): Promise<FollowedTask> {
    const { FollowedTask: Followed } = await load()
    const source = this.#source
    const { settings, dialect } = source
    const { limits, clock } = settings
    const { call, startedAt = clock.now() } = following
    const maxMs = call.maxTotalMs === undefined ? limits.maxTaskMs : startedAt + call.maxTotalMs - clock.now()
    const task = new Followed(
      {
        settings,
        server: dialect.server,
        isExtension: dialect.revision.tasks === 'extension',
        request: (method, params, options) => source.request(method, params, options),
      },
      view,
      { ...following, maxMs, onOver: (over) => this.#followed.delete(over) },
    )
    if (!task.isOver) this.#followed.add(task)
    return task
  }

  /** Throws ERR_CAPABILITY_MISSING if the server has no tasks. */
  #require(method: string): void {
    const { revision, server } = this.#source.dialect
    const { hasTasks } = this.#source.settings
    const { extensions, tasks } = server.capabilities
    if (revision.tasks === 'requested' ? isObject(tasks) : revision.tasks === 'extension' && isObject(extensions?.[TASKS]) && hasTasks)
      return
    const missing = hasTasks ? 'which the server does not have' : 'which this client has switched off'
    throw new McpError('ERR_CAPABILITY_MISSING', `${method} needs tasks, ${missing}`)
  }
}
