/** Follows one task of the server until it ends: asks for its status, hears of changes, answers its questions. */

import { asText } from '../../base/as-text.ts'
import type { Deadline } from '../../base/deadlines.ts'
import { isObject } from '../../base/json.ts'
import { onAbort } from '../../base/on-abort.ts'
import { orTimeout } from '../../base/wait.ts'
import type { ErrorObject, Params } from '../../jsonrpc/message.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Progress } from '../../protocol/model/progress.ts'
import { isFinal } from '../../protocol/model/tasks.ts'
import { mayPass, type ServerDescription } from '../dialect/dialect.ts'
import type { CallOptions } from '../options.ts'
import { PROGRESS_RATE, ProgressSink } from '../progress-sink.ts'
import type { Settings } from '../settings.ts'
import type { ToolResult } from '../tool-results.ts'
import type { TaskHandle, TaskState } from './task-handle.ts'
import { TaskQuestions } from './task-questions.ts'
import { invalid, readTask, type TaskView } from './task-view.ts'

/** The connection that a task is followed on. */
export interface TaskConnection {
  readonly settings: Settings
  readonly server: ServerDescription
  /** Whether tasks are those of the extension, where questions and results are in the task. */
  readonly isExtension: boolean
  request(method: string, params: Params, options: CallOptions): Promise<Params>
}

export interface FollowOptions {
  call: CallOptions
  /** How long to follow the task. */
  maxMs: number
  /** If true, the task is cancelled when the client gives it up. */
  isOwned: boolean
  /** Checks the result of the call. */
  read(result: Params): ToolResult | Promise<ToolResult>
  onOver(task: FollowedTask): void
}

/** The interval of the server is the time between two questions about the status. The first comes sooner, for short tasks. */
const FIRST_POLL_MS = 100
/** Failures of the network in a row, and how long to wait after them. */
const MAX_FAILURES = 5
const MAX_PAUSE_MS = 30_000

export class FollowedTask implements TaskHandle {
  readonly #connection: TaskConnection
  readonly #options: FollowOptions
  readonly #outcome: Promise<ToolResult>
  readonly #questions: TaskQuestions
  readonly #sink: ProgressSink | undefined
  readonly #unwatch: (() => void)[] = []
  readonly #deadline: Deadline | undefined
  #view: TaskView
  #progress: Progress | undefined
  /** The number of status messages, which is the progress where a task has no other. */
  #messages = 0
  /** Counts the changes that loops see. */
  #edition = 0
  #waiting = new Set<() => void>()
  #isOver = false
  #failure: { error: unknown } | undefined
  #wake = (): void => {}
  /** The open request for the result, which brings the questions in the form that has them there. */
  #fetching: { result: Promise<Params>; stop: AbortController } | undefined
  #fetchFailures = 0
  #resolve: (result: ToolResult | Promise<ToolResult>) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor(connection: TaskConnection, view: TaskView, options: FollowOptions) {
    this.#connection = connection
    this.#view = view
    this.#options = options
    const { settings, server } = connection
    const { signal, onProgress } = options.call
    this.#outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A handle may be dropped without a look at its result.
    this.#outcome.catch(() => {})
    this.#sink = onProgress && new ProgressSink((progress) => onProgress(progress), PROGRESS_RATE, settings.clock)
    this.#questions = new TaskQuestions({ server: server.info.name, task: view.id }, settings.answerer, {
      send: (answers) => this.#update(answers),
      onFailure: (error) => this.#fail(error),
    })
    if (Number.isFinite(options.maxMs)) this.#deadline = settings.deadlines.set(options.maxMs, () => this.#fail(this.#tooLong()))
    this.#unwatch.push(onAbort(settings.over.signal, () => this.#fail(settings.over.signal.reason)))
    if (signal) this.#unwatch.push(onAbort(signal, () => this.#abort(signal.reason)))
    void this.#follow()
  }

  /** Whether the client has stopped following. */
  get isOver(): boolean {
    return this.#isOver
  }

  get id(): string {
    return this.#view.id
  }

  get status(): TaskState['status'] {
    return this.#view.status
  }

  get statusMessage(): string | undefined {
    return this.#view.statusMessage
  }

  get createdAt(): string | undefined {
    return this.#view.createdAt
  }

  get lastUpdatedAt(): string | undefined {
    return this.#view.lastUpdatedAt
  }

  get ttlMs(): number | null | undefined {
    return this.#view.ttlMs
  }

  get progress(): Progress | undefined {
    return this.#progress
  }

  result<T>(): Promise<ToolResult<T>> {
    return this.#outcome as Promise<ToolResult<T>>
  }

  async cancel(): Promise<void> {
    if (this.#isOver || isFinal(this.#view)) return
    try {
      this.#see(await this.#requestCancel())
    } catch (error) {
      // A server refuses to cancel a task that has ended.
      if (!(error instanceof RemoteError) || !(await this.#hasEnded())) throw error
    }
    // The work may go on for a while, but this side is no longer interested.
    if (!isFinal(this.#view)) this.#see({ ...this.#view, status: 'cancelled' })
    await this.#outcome.catch(() => {})
  }

  leave(): void {
    this.#end({
      error: new McpError('ERR_CLOSED', `The task ${JSON.stringify(this.id)} is no longer followed`, { data: { taskId: this.id } }),
    })
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TaskState> {
    for (let seen = -1; ; ) {
      if (seen !== this.#edition) {
        seen = this.#edition
        yield this.#state()
      } else if (this.#isOver) {
        if (this.#failure && !isFinal(this.#view)) throw this.#failure.error
        return
      } else {
        await new Promise<void>((resolve) => this.#waiting.add(resolve))
      }
    }
  }

  /** Takes a notification of the server about this task. */
  notice(method: string, params: Params): void {
    if (method === 'notifications/progress') return this.#takeProgress(params)
    try {
      const view = readTask(method, params, this.id)
      const { lastUpdatedAt } = this.#view
      // Notifications and answers travel on different streams, so an older one may come later.
      if (lastUpdatedAt === undefined || view.lastUpdatedAt === undefined || view.lastUpdatedAt >= lastUpdatedAt) this.#see(view)
    } catch (error) {
      this.#connection.settings.onWarning(`Ignored: ${asText(error)}`)
    }
  }

  async #follow(): Promise<void> {
    try {
      this.#look()
      await this.#pause(Math.min(FIRST_POLL_MS, this.#view.pollIntervalMs))
      while (!this.#isOver) {
        if (isFinal(this.#view)) return await this.#finish()
        this.#see(await this.#persistently(() => this.#get()))
        if (!isFinal(this.#view)) await this.#pause(this.#view.pollIntervalMs)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  async #get(): Promise<TaskView> {
    return readTask('The result of tasks/get', await this.#request('tasks/get', {}), this.id)
  }

  /** Takes what the server says now. Whatever it says after a final status is ignored. */
  #see(view: TaskView): void {
    const before = this.#view
    if (this.#isOver || isFinal(before)) return
    this.#view = view
    const { status, statusMessage } = view
    if (status !== before.status || statusMessage !== before.statusMessage) this.#change()
    if (statusMessage !== undefined && statusMessage !== before.statusMessage && this.#connection.isExtension)
      this.#sink?.take({ progress: ++this.#messages, message: statusMessage })
    this.#look()
  }

  /** Does what the status asks for. */
  #look(): void {
    const { status, details } = this.#view
    if (isFinal(this.#view)) return this.#wake()
    const isAsking = status === 'input_required'
    if (!this.#connection.isExtension) {
      if (isAsking) this.#fetchQuestions()
    } else if (!isAsking) this.#questions.withdrawAll()
    // The answer that creates a task has no questions.
    else if (details.inputRequests !== undefined) {
      try {
        this.#questions.take(details.inputRequests)
      } catch (error) {
        this.#fail(error)
      }
    }
  }

  /** The server sends its questions while a request for the result is open. */
  #fetchQuestions(): void {
    if (this.#fetching) return
    const stop = new AbortController()
    const forever = { timeoutMs: Number.POSITIVE_INFINITY, maxTotalMs: Number.POSITIVE_INFINITY }
    const result = this.#connection.request('tasks/result', { taskId: this.id }, { ...forever, signal: stop.signal })
    this.#fetching = { result, stop }
    result.then(
      (given) => {
        if (this.#isOver || isFinal(this.#view)) return
        // The task has ended, or there would be no result.
        this.#see({ ...this.#view, status: given.isError === true ? 'failed' : 'completed' })
      },
      (error: unknown) => {
        // The next look at the status says whether the task has ended. If not, the questions are fetched again.
        this.#fetching = undefined
        if (++this.#fetchFailures > MAX_FAILURES) this.#fail(error)
        else this.#wake()
      },
    )
  }

  async #finish(): Promise<void> {
    const { status, statusMessage, details } = this.#view
    if (status === 'cancelled') {
      const why = statusMessage === undefined ? '' : `: ${statusMessage}`
      throw new McpError('ERR_CANCELLED', `The task was cancelled${why}`, { data: { taskId: this.id } })
    }
    const result = this.#connection.isExtension ? resultIn(details) : await this.#fetchResult()
    this.#end({ result })
  }

  /** The result of a task that has ended. */
  #fetchResult(): Promise<Params> {
    const { deadlines, limits } = this.#connection.settings
    const { timeoutMs: ms = limits.timeoutMs } = this.#options.call
    const fetching = this.#fetching
    if (!fetching) return this.#persistently(() => this.#request('tasks/result', {}))
    return orTimeout(fetching.result, { deadlines, ms }, () => {
      throw new McpError('ERR_TIMEOUT', `tasks/result was not answered within ${ms} ms after the task ended (timeoutMs)`)
    })
  }

  async #update(inputResponses: Params): Promise<void> {
    await this.#persistently(() => this.#request('tasks/update', { inputResponses }))
  }

  /** Asks the server to cancel. Returns what it says about the task then. */
  async #requestCancel(): Promise<TaskView> {
    const { isExtension, server } = this.#connection
    if (!isExtension && !isObject(server.capabilities.tasks?.cancel))
      throw new McpError('ERR_CAPABILITY_MISSING', 'tasks/cancel needs the server capability tasks.cancel, which was not declared')
    const answer = await this.#request('tasks/cancel', {})
    return isExtension ? this.#get() : readTask('The result of tasks/cancel', answer, this.id)
  }

  async #hasEnded(): Promise<boolean> {
    this.#see(await this.#get())
    return isFinal(this.#view)
  }

  #request(method: string, params: Params): Promise<Params> {
    const { timeoutMs, trace } = this.#options.call
    const options = { ...(timeoutMs !== undefined && { timeoutMs }), ...(trace && { trace }) }
    return this.#connection.request(method, { taskId: this.id, ...params }, options)
  }

  /** Repeats a request after failures of the network. */
  async #persistently<T>(send: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await send()
      } catch (error) {
        if (this.#isOver || failures > MAX_FAILURES || !mayPass(error)) throw error
        await this.#pause(Math.min(MAX_PAUSE_MS, this.#view.pollIntervalMs * 2 ** failures))
      }
    }
  }

  /** Ends early when there is something to do. */
  async #pause(ms: number): Promise<void> {
    const { deadlines } = this.#connection.settings
    if (this.#isOver || isFinal(this.#view)) return
    await new Promise<void>((resolve) => {
      const deadline = deadlines.set(ms, () => this.#wake())
      this.#wake = () => {
        deadlines.clear(deadline)
        this.#wake = () => {}
        resolve()
      }
    })
  }

  #takeProgress({ progress, total, message }: Params): void {
    if (this.#isOver || isFinal(this.#view)) return
    if (typeof progress !== 'number' || !(progress > (this.#progress?.progress ?? Number.NEGATIVE_INFINITY))) return
    this.#progress = { progress, ...(typeof total === 'number' && { total }), ...(typeof message === 'string' && { message }) }
    this.#sink?.take({ ...this.#progress })
    this.#change()
  }

  #change(): void {
    this.#edition++
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const resolve of waiting) resolve()
  }

  #state(): TaskState {
    const { id, status, statusMessage, createdAt, lastUpdatedAt, ttlMs } = this.#view
    return { id, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, progress: this.#progress }
  }

  /** Gives the task up. */
  #fail(error: unknown): void {
    if (this.#isOver) return
    const isKnown = error instanceof RemoteError || isFinal(this.#view)
    this.#end({ error })
    if (this.#options.isOwned && !isKnown) this.#cancelQuietly()
  }

  /** The person who started the call no longer wants it. */
  #abort(reason: unknown): void {
    if (this.#isOver) return
    const isRunning = !isFinal(this.#view)
    this.#end({ error: reason })
    if (isRunning) this.#cancelQuietly()
  }

  #cancelQuietly(): void {
    const { settings } = this.#connection
    if (settings.over.signal.aborted) return
    this.#request('tasks/cancel', {}).catch((error: unknown) =>
      settings.onWarning(`The task ${this.id} was not cancelled: ${asText(error)}`),
    )
  }

  #end(outcome: { result: Params } | { error: unknown }): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#deadline) this.#connection.settings.deadlines.clear(this.#deadline)
    for (const unwatch of this.#unwatch) unwatch()
    this.#questions.withdrawAll()
    this.#fetching?.stop.abort()
    this.#sink?.end()
    this.#options.onOver(this)
    if ('error' in outcome) {
      this.#failure = outcome
      this.#reject(outcome.error)
    } else {
      // A result that is not valid rejects.
      this.#resolve(new Promise<ToolResult>((resolve) => resolve(this.#options.read(outcome.result))))
    }
    this.#wake()
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const resolve of waiting) resolve()
  }

  #tooLong(): McpError {
    const { maxMs } = this.#options
    return new McpError('ERR_TIMEOUT', `The task did not end within ${maxMs} ms (maxTotalMs, or limits.maxTaskMs)`, {
      data: { taskId: this.id },
    })
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
