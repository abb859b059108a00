/** Follows one task of the server until it ends: asks for its status, hears of changes, answers its questions. */

import { asText } from '../../base/as-text.ts'
import type { Deadline } from '../../base/deadlines.ts'
import { isObject } from '../../base/json.ts'
import { onAbort } from '../../base/on-abort.ts'
import { orTimeout } from '../../base/wait.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Progress } from '../../protocol/model/progress.ts'
import { isFinal, NEEDED_CAPABILITIES } from '../../protocol/model/tasks.ts'
import { endable } from '../endable.ts'
import type { CallOptions } from '../options.ts'
import { PROGRESS_RATE, ProgressSink } from '../progress-sink.ts'
import type { ToolResult } from '../tool-results.ts'
import { MAX_FAILURES, PersistentRequests } from './persistent-requests.ts'
import type { TaskHandle, TaskState } from './task-handle.ts'
import { cannotAnswer, TaskQuestions } from './task-questions.ts'
import { type TaskConnection, TaskRequests } from './task-requests.ts'
import { readTask, type TaskView } from './task-view.ts'

export interface FollowOptions {
  call: CallOptions
  /** How long to follow the task from now on. */
  maxMs: number
  /** How long the whole task may take: the limit that an error names. */
  limitMs: number
  /** If true, the task is cancelled when the client gives it up. */
  isOwned: boolean
  /** Checks the result of the call. */
  read(result: Params): ToolResult | Promise<ToolResult>
  onOver(task: FollowedTask): void
}

/** The interval of the server is the time between two questions about the status. The first comes sooner, for short tasks. */
const FIRST_POLL_MS = 100

/**
 * Open requests for results, which bring questions. Each takes a place among the requests of the connection, so that other requests
 * would wait for a person if there were more. Tasks with questions that this client cannot answer get half of the places.
 */
const MAX_AWAITED = 32
/** A request for the result that ends after this time was cut off, and not refused. It is made again however often that happens. */
const CUT_OFF_MS = 30_000

/** Notifications and answers travel on different streams, so an older one may come later. */
const isOlder = ({ lastUpdatedAt: one }: TaskView, { lastUpdatedAt: other }: TaskView): boolean =>
  one !== undefined && other !== undefined && one < other

export class FollowedTask implements TaskHandle {
  readonly #connection: TaskConnection
  readonly #options: FollowOptions
  readonly #outcome: Promise<ToolResult>
  readonly #requests: TaskRequests
  readonly #persistent: PersistentRequests
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
  #isListening = false
  #isCancelling = false
  #failure: { error: unknown } | undefined
  readonly #pauses = new Set<() => void>()
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
    this.#requests = new TaskRequests(connection, view.id, options.call)
    this.#persistent = new PersistentRequests({
      task: view.id,
      pollIntervalMs: () => this.#view.pollIntervalMs,
      isOver: () => this.#isOver,
      pause: (ms) => this.#pause(ms),
      onWarning: settings.onWarning,
    })
    this.#outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A handle may be dropped without a look at its result.
    this.#outcome.catch(() => {})
    this.#sink = onProgress && new ProgressSink((progress) => onProgress(progress), PROGRESS_RATE, settings.clock)
    this.#questions = new TaskQuestions({ server: server.info.name, task: view.id }, settings.answerer, {
      send: (answers) => this.#persistent.send(() => this.#requests.update(answers)),
      // A server that refuses an answer still has the task.
      onFailure: (error) => this.#fail(error, false),
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
    this.#isCancelling = true
    const answer = await this.#requests.cancel().catch(async (error: unknown) => {
      this.#isCancelling = false
      // A server refuses to cancel a task that has ended.
      if (!(error instanceof RemoteError) || !(await this.#hasEnded())) throw error
      return undefined
    })
    // The server may have deleted the task.
    const isAcknowledged = answer && this.#connection.isExtension
    const view = isAcknowledged
      ? await this.#requests.get().catch(() => undefined)
      : answer && readTask('The result of tasks/cancel', answer, this.id)
    if (view) this.#see(view)
    // The work may go on for a while, but this side is no longer interested.
    if (!isFinal(this.#view)) this.#see({ ...this.#view, status: 'cancelled' })
    await this.#outcome.catch(() => {})
  }

  leave(): void {
    this.#end({
      error: new McpError('ERR_CLOSED', `The task ${JSON.stringify(this.id)} is no longer followed`, { data: { taskId: this.id } }),
    })
  }

  [Symbol.asyncIterator](): AsyncGenerator<TaskState> {
    return endable((end) => this.#states(end))
  }

  async *#states(end: AbortSignal): AsyncGenerator<TaskState, undefined> {
    let wake = (): void => {}
    onAbort(end, () => {
      this.#waiting.delete(wake)
      wake()
    })
    for (let seen = -1; !end.aborted; ) {
      if (seen !== this.#edition) {
        seen = this.#edition
        yield this.#state()
      } else if (this.#isOver) {
        if (this.#failure && !isFinal(this.#view)) throw this.#failure.error
        return undefined
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
          this.#waiting.add(resolve)
        })
      }
    }
    return undefined
  }

  /** Takes a notification of the server about this task. */
  notice(method: string, params: Params): void {
    if (method === 'notifications/progress') return this.#takeProgress(params)
    try {
      const view = readTask(method, params, this.id)
      if (!isOlder(view, this.#view)) this.#see(view)
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
        const before = this.#view
        const view = await this.#persistent.send(() => this.#requests.get())
        if (this.#view === before || !isOlder(view, this.#view)) this.#see(view)
        if (isFinal(this.#view)) continue
        this.#listen()
        await this.#pause(this.#view.pollIntervalMs)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Asks to hear of changes, once the task takes longer. The status is asked for anyway, so a failure does not matter. */
  #listen(): void {
    if (this.#isListening || !this.#connection.isExtension) return
    this.#isListening = true
    this.#connection.listen(this.id).then(
      (stop) => (this.#isOver ? stop() : this.#unwatch.push(stop)),
      () => {},
    )
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
    const needed = isAsking && isObject(details._meta) ? details._meta[NEEDED_CAPABILITIES] : undefined
    // Only this client knows the id of a task that `call` waits for, so no other client can answer its questions.
    if (this.#options.isOwned && isObject(needed)) return this.#fail(cannotAnswer(this.id, needed))
    if (!this.#connection.isExtension) {
      if (isAsking) this.#fetchQuestions(isObject(needed) ? MAX_AWAITED / 2 : MAX_AWAITED)
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

  /** The server sends its questions while a request for the result is open. If there are too many, the next look tries again. */
  #fetchQuestions(max: number): void {
    const { awaited } = this.#connection
    if (this.#fetching || awaited.size >= max) return
    const { clock } = this.#connection.settings
    const startedAt = clock.now()
    const stop = new AbortController()
    const result = this.#requests.awaitResult(stop.signal)
    this.#fetching = { result, stop }
    awaited.add(this)
    const free = (): boolean => awaited.delete(this)
    result.then(free, free)
    result.then(
      (given) => {
        if (this.#isOver || isFinal(this.#view)) return
        // The task has ended, or there would be no result.
        this.#see({ ...this.#view, status: given.isError === true ? 'failed' : 'completed' })
      },
      (error: unknown) => {
        // The next look at the status says whether the task has ended. If not, the questions are fetched again.
        this.#fetching = undefined
        if (clock.now() - startedAt > CUT_OFF_MS) this.#fetchFailures = 0
        if (++this.#fetchFailures > MAX_FAILURES) this.#fail(error)
        else this.#wake()
      },
    )
  }

  async #finish(): Promise<void> {
    const { status, statusMessage } = this.#view
    if (status === 'cancelled') {
      const why = statusMessage === undefined ? '' : `: ${statusMessage}`
      return this.#end({ error: new McpError('ERR_CANCELLED', `The task was cancelled${why}`, { data: { taskId: this.id } }) })
    }
    this.#end({ result: await this.#fetchResult() })
  }

  /** The result of a task that has ended. */
  #fetchResult(): Promise<Params> {
    const { deadlines, limits } = this.#connection.settings
    const { timeoutMs: ms = limits.timeoutMs } = this.#options.call
    const fetching = this.#fetching
    if (!fetching) return this.#persistent.send(() => this.#requests.result(this.#view))
    return orTimeout(fetching.result, { deadlines, ms }, () => {
      throw new McpError('ERR_TIMEOUT', `tasks/result was not answered within ${ms} ms after the task ended (timeoutMs)`)
    })
  }

  async #hasEnded(): Promise<boolean> {
    this.#see(await this.#requests.get())
    return isFinal(this.#view)
  }

  /** Ends early when there is something to do. */
  async #pause(ms: number): Promise<void> {
    const { deadlines } = this.#connection.settings
    if (this.#isOver || isFinal(this.#view)) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        deadlines.clear(deadline)
        this.#pauses.delete(end)
        resolve()
      }
      const deadline = deadlines.set(ms, end)
      this.#pauses.add(end)
    })
  }

  #wake(): void {
    for (const end of [...this.#pauses]) end()
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

  /**
   * Gives the task up.
   * @param isGone whether the server says that there is no such task
   */
  #fail(error: unknown, isGone = error instanceof RemoteError): void {
    if (this.#isOver) return
    if (this.#isCancelling && error instanceof RemoteError && !isFinal(this.#view)) {
      // The server has deleted the task, because it is cancelled.
      this.#see({ ...this.#view, status: 'cancelled' })
      return void this.#finish()
    }
    const isKnown = isGone || isFinal(this.#view)
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
    const cancelling: Promise<void> = this.#requests
      .cancel()
      .then(
        () => {},
        (error: unknown) => settings.onWarning(`The task ${this.id} was not cancelled: ${asText(error)}`),
      )
      .finally(() => settings.cancelling.delete(cancelling))
    settings.cancelling.add(cancelling)
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
    const { limitMs } = this.#options
    return new McpError('ERR_TIMEOUT', `The task did not end within ${limitMs} ms (maxTotalMs, or limits.maxTaskMs)`, {
      data: { taskId: this.id },
    })
  }
}
