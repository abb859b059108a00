/** The requests about one task, in both forms. */

import { asText } from '../../base/as-text.ts'
import { isObject } from '../../base/json.ts'
import type { ErrorObject, Params } from '../../jsonrpc/message.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ServerDescription } from '../dialect/dialect.ts'
import type { CallOptions } from '../options.ts'
import type { Settings } from '../settings.ts'
import { invalid, readTask, type TaskView } from './task-view.ts'

/** The connection that a task is followed on. */
export interface TaskConnection {
  readonly settings: Settings
  readonly server: ServerDescription
  /** Whether tasks are those of the extension, where questions and results are in the task. */
  readonly isExtension: boolean
  /** The tasks whose results this client awaits now. */
  readonly awaited: Set<unknown>
  request(method: string, params: Params, options: CallOptions): Promise<Params>
  /** Asks for notifications about a task. Resolves with a function that stops them. */
  listen(id: string): Promise<() => void>
}

export class TaskRequests {
  readonly #connection: TaskConnection
  readonly #id: string
  readonly #options: CallOptions

  constructor(connection: TaskConnection, id: string, { timeoutMs, trace }: CallOptions) {
    this.#connection = connection
    this.#id = id
    this.#options = { ...(timeoutMs !== undefined && { timeoutMs }), ...(trace && { trace }) }
  }

  async get(): Promise<TaskView> {
    return readTask('The result of tasks/get', await this.#send('tasks/get', {}), this.#id)
  }

  async update(inputResponses: Params): Promise<void> {
    await this.#send('tasks/update', { inputResponses })
  }

  /** Throws ERR_CAPABILITY_MISSING if the server cannot cancel. */
  async cancel(): Promise<Params> {
    const { isExtension, server } = this.#connection
    if (!isExtension && !isObject(server.capabilities.tasks?.cancel))
      throw new McpError('ERR_CAPABILITY_MISSING', 'tasks/cancel needs the server capability tasks.cancel, which was not declared')
    return this.#send('tasks/cancel', {})
  }

  /** The result of a task that has ended. Throws its error. */
  async result({ details }: TaskView): Promise<Params> {
    return this.#connection.isExtension ? resultIn(details) : this.#send('tasks/result', {})
  }

  /** Waits for the result, without a limit. While this request is open, the server can ask its questions. */
  awaitResult(signal: AbortSignal): Promise<Params> {
    const forever = { timeoutMs: Number.POSITIVE_INFINITY, maxTotalMs: Number.POSITIVE_INFINITY }
    return this.#connection.request('tasks/result', { taskId: this.#id }, { ...this.#options, ...forever, signal })
  }

  #send(method: string, params: Params): Promise<Params> {
    return this.#connection.request(method, { taskId: this.#id, ...params }, this.#options)
  }
}

/** The result in a task of the extension that has ended. Throws the error of a task that failed. */
function resultIn({ status, result, error, statusMessage }: Params): Params {
  if (status === 'failed') {
    if (isObject(error) && typeof error.code === 'number' && typeof error.message === 'string')
      throw new RemoteError(error as unknown as ErrorObject)
    throw invalid('The failed task', `has no error: ${asText(statusMessage ?? 'no reason given')}`)
  }
  if (!isObject(result)) throw invalid('The completed task', 'has no result')
  if (result.resultType !== undefined && result.resultType !== 'complete')
    throw invalid('The result of the task', `has the type ${JSON.stringify(result.resultType)?.slice(0, 100)}, expected "complete"`)
  return result
}
