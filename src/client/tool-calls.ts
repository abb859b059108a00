/** Calls of tools: as plain requests or as tasks, with their arguments in headers where needed, and with checked results. */

import type { Params } from '../jsonrpc/message.ts'
import type { Progress } from '../protocol/model/progress.ts'
import type { Tool } from '../protocol/model/tools.ts'
import type { Connection } from './connection.ts'
import { KnownTools } from './known-tools.ts'
import type { MirroredParams } from './mirrored-params.ts'
import type { CallOptions } from './options.ts'
import type { Settings } from './settings.ts'
import { ClientTasks } from './tasks/client-tasks.ts'
import type { ResumeTaskOptions, TaskCallOptions, TaskHandle } from './tasks/task-handle.ts'
import { type ToolResult, withContent } from './tool-results.ts'
import type { Watching } from './watching.ts'

/** The part of a client that its calls need. */
export interface CallSource {
  readonly settings: Settings
  readonly connection: Pick<Connection, 'dialect' | 'request'>
  readonly watching: Watching
  /** Undefined on transports without headers. */
  readonly mirrored: MirroredParams | undefined
  /** Lists all tools. Their definitions come back through `learn`. */
  list(): Promise<unknown>
  /** The cached list is outdated. */
  dropList(): void
  /** The tools changed without a notice. Must call `forget`. */
  onChanged(): void
}

export class ToolCalls {
  readonly #source: CallSource
  readonly #tools: KnownTools
  readonly tasks: ClientTasks

  constructor(source: CallSource) {
    this.#source = source
    const { settings, mirrored, connection, watching } = source
    this.#tools = new KnownTools(
      {
        list: () => source.list(),
        call: (params, options) => connection.request('tools/call', params, options),
        mismatchCode: () => connection.dialect.revision.errorCode('ERR_HEADER_MISMATCH'),
        dropList: () => source.dropList(),
        onChanged: () => source.onChanged(),
        onWarning: settings.onWarning,
      },
      mirrored,
    )
    this.tasks = new ClientTasks({ settings, connection, watching }, (name) => this.#tools.taskSupport(name))
  }

  /** Learns the tools of one page. Returns those that can be used. */
  learn(listed: readonly Tool[], isLast: boolean): Tool[] {
    return this.#tools.learn(listed, isLast)
  }

  forget(): void {
    this.#tools.forget()
  }

  call(name: string, args: Params, options: CallOptions): Promise<ToolResult> {
    const read = (result: Params): ToolResult | Promise<ToolResult> => this.#read(name, result)
    const wish = this.tasks.wish(name, false)
    if (wish) return wish.then((task) => this.#finish({ name, arguments: args, ...task }, options, read))
    return this.#finish({ name, arguments: args }, options, read)
  }

  async callTask(name: string, args: Params, options: TaskCallOptions): Promise<TaskHandle> {
    const startedAt = this.#source.settings.clock.now()
    let progress: Progress | undefined
    const onProgress = (given: Progress): void => {
      progress = given
      options.onProgress?.(given)
    }
    const call = { ...options, onProgress }
    const params = { name, arguments: args, ...(await this.tasks.wish(name, true, options.ttlMs)) }
    const answer = await this.#send(params, call)
    const read = (result: Params): ToolResult | Promise<ToolResult> => this.#read(name, result)
    if (!this.tasks.isTask(answer, params)) return this.tasks.finished(await read(answer), progress)
    return this.tasks.begin(answer, { call, startedAt, isOwned: false, read })
  }

  resumeTask(id: string, options: ResumeTaskOptions): Promise<TaskHandle> {
    const { tool } = options
    const read = (result: Params): ToolResult | Promise<ToolResult> =>
      tool === undefined ? (withContent('of the task', result) as ToolResult) : this.#read(tool, result)
    return this.tasks.resume(id, { call: options, isOwned: false, read })
  }

  /** The result as the server sent it. A task that the server created is followed to its end; one in `params` is the result. */
  request(params: Params, options: CallOptions): Promise<Params> {
    const isWished = params.task !== undefined && this.#source.connection.dialect.revision.tasks === 'requested'
    return isWished ? this.#send(params, options) : this.#finish(params, options, (result) => result as ToolResult)
  }

  #finish(params: Params, options: CallOptions, read: (result: Params) => ToolResult | Promise<ToolResult>): Promise<ToolResult> {
    const startedAt = options.maxTotalMs === undefined ? undefined : this.#source.settings.clock.now()
    return this.#send(params, options).then((answer) =>
      this.tasks.isTask(answer, params) ? this.tasks.settle(answer, { call: options, startedAt, read }) : read(answer),
    )
  }

  #send(params: Params, options: CallOptions): Promise<Params> {
    const { mirrored, connection } = this.#source
    return mirrored ? this.#tools.callMirrored(mirrored, params, options) : connection.request('tools/call', params, options)
  }

  #read(name: string, result: Params): ToolResult | Promise<ToolResult> {
    const whole = withContent(name, result)
    if (!this.#tools.mustCheck(name, whole)) return whole as ToolResult
    return this.#tools.check(name, whole).then(() => whole as ToolResult)
  }
}
