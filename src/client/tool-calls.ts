/** Calls of tools: as plain requests or as tasks, with their arguments in headers where needed, and with checked results. */

import { isObject } from '../base/json.ts'
import type { Params } from '../jsonrpc/message.ts'
import type { Tool } from '../protocol/model/tools.ts'
import type { Connection } from './connection.ts'
import { KnownTools } from './known-tools.ts'
import type { MirroredParams } from './mirrored-params.ts'
import type { CallOptions } from './options.ts'
import type { Settings } from './settings.ts'
import type { TaskCalls } from './tasks/task-calls.ts'
import { isTask, type ToolResult, withContent } from './tool-results.ts'
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
  #tasks: TaskCalls | undefined

  constructor(source: CallSource) {
    this.#source = source
    const { settings, mirrored, connection } = source
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
    const wish = this.#wish(name, false)
    if (wish) return wish.then((task) => this.#finish({ name, arguments: args, ...task }, options, read))
    return this.#finish({ name, arguments: args }, options, read)
  }

  /** The result as the server sent it. A task that the server created is followed to its end; one in `params` is the result. */
  request(params: Params, options: CallOptions): Promise<Params> {
    const isWished = params.task !== undefined && this.#source.connection.dialect.revision.tasks === 'requested'
    return isWished ? this.#send(params, options) : this.#finish(params, options, (result) => result as ToolResult)
  }

  /** The code for tasks, which is loaded on first use. */
  async tasks(): Promise<TaskCalls> {
    const { TaskCalls: Tasks } = await import('./tasks/task-calls.ts')
    this.#tasks ??= new Tasks(this.#source, {
      wish: (name, isPreferred, ttlMs) => this.#wish(name, isPreferred, ttlMs),
      send: (params, options) => this.#send(params, options),
      read: (name, result) => this.#read(name, result),
    })
    return this.#tasks
  }

  /** Takes a notification of the server, which may be about a task. */
  notice(method: string, params: Params): void {
    this.#tasks?.notice(method, params)
  }

  /**
   * What to add to the params of a call, so that it runs as a task where it has to. Undefined if nothing has to be found out.
   *
   * @param isPreferred whether a task is wanted if the tool allows it
   */
  #wish(name: string, isPreferred: boolean, ttlMs?: number): Promise<Params> | undefined {
    const { settings, connection } = this.#source
    const { revision, server } = connection.dialect
    if (revision.tasks !== 'requested' || !settings.hasTasks || !isObject(server.capabilities.tasks?.requests?.tools?.call))
      return undefined
    return this.#tools.taskSupport(name).then(async (support) => {
      if (support !== 'required' && !(isPreferred && support === 'optional')) return {}
      // Before the call, so that no notification about the task is missed.
      await this.tasks()
      return { task: ttlMs === undefined ? {} : { ttl: ttlMs } }
    })
  }

  #finish(params: Params, options: CallOptions, read: (result: Params) => ToolResult | Promise<ToolResult>): Promise<ToolResult> {
    const startedAt = options.maxTotalMs === undefined ? undefined : this.#source.settings.clock.now()
    return this.#send(params, options).then((answer) => {
      if (!isTask(answer, params)) return read(answer)
      return this.tasks().then((tasks) => tasks.settle(answer, { call: options, startedAt, read }))
    })
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
