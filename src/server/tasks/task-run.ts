/** One handler that may become a task: attached to its request at first, on its own afterwards. */

import { onAbort } from '../../base/on-abort.ts'
import { Exchange } from '../../jsonrpc/exchange.ts'
import type { KeptText } from '../../jsonrpc/kept-text.ts'
import type { ErrorObject, Params } from '../../jsonrpc/message.ts'
import type { UrlElicitationRequired } from '../../protocol/errors.ts'
import type { TaskRecord } from '../../protocol/interfaces/task-record.ts'
import { relatedTo, type TaskOutcome } from '../../protocol/model/kept-task.ts'
import type { LogLevel } from '../../protocol/model/logging.ts'
import { errorResult } from '../content.ts'
import { CallContext } from '../context.ts'
import type { FeatureEnvironment } from '../feature-environment.ts'
import { type Caller, type Dialect, IncomingCall } from '../incoming-call.ts'
import type { Asker } from '../input/asker.ts'
import type { TaskTool } from './hook.ts'
import { SwitchingAsker } from './task-asker.ts'
import type { Moment } from './task-table.ts'

/** What a run needs of the engine. */
export interface RunEvents {
  /** The task ended with this outcome. */
  onOutcome(outcome: TaskOutcome): void
  /** The handler reported progress. */
  onProgress(text: string): void
}

/** A handler that runs, or whose outcome is not stored yet. */
export interface Running {
  run: TaskRun
  tool: TaskTool
  task: TaskRecord
  /** When the lease was taken or renewed. */
  renewedAt: Moment
  forget: () => void
  /** Its questions may have changed in the store without the handler knowing. */
  isBehind?: boolean
  outcome?: TaskOutcome
}

export class TaskRun {
  readonly call: IncomingCall
  readonly asker: SwitchingAsker
  readonly exchange: TaskExchange
  events: RunEvents | undefined
  /** The record at its creation. Undefined while the call is a plain one. */
  task: TaskRecord | undefined
  isOver = false
  /** What the handler said last about its progress before the call was a task. */
  said: string | undefined
  /** The call of the client, as long as it is not a task. Afterwards its connection must not be kept in memory. */
  #source: IncomingCall | undefined
  /** The session of the call, if it has one. */
  readonly #session: Dialect | undefined
  readonly #unwatch: () => void

  /**
   * @param source the call that the handler runs for: its caller, params and revision
   * @param isAttached whether the answer still belongs to the exchange of that call
   */
  constructor(source: IncomingCall, isAttached: boolean, asker: (call: IncomingCall) => Asker) {
    const { params, revision, caller, quota, dialect } = source
    this.#source = isAttached ? source : undefined
    this.#session = dialect.notify ? dialect : undefined
    this.exchange = new TaskExchange(source, this)
    this.call = new IncomingCall(this.exchange, params, revision, new TaskDialect(caller, this), quota)
    this.asker = new SwitchingAsker(asker(this.call))
    const { signal } = source.exchange
    this.#unwatch = isAttached ? onAbort(signal, () => !this.task && this.exchange.abort(signal.reason)) : () => {}
  }

  /** The exchange of the client's request, as long as the call is not a task. */
  get origin(): Exchange | undefined {
    return this.#source?.exchange
  }

  get logLevel(): LogLevel | undefined {
    return (this.#source?.dialect ?? this.#session)?.logLevel()
  }

  /** From now on the call is a task: nothing that happens to the request concerns it. */
  detach(task: TaskRecord): void {
    this.task = task
    this.#source = undefined
    this.#unwatch()
  }

  /** Ends the run without an outcome. The handler is told by its signal. */
  stop(reason: unknown): void {
    if (this.isOver) return
    this.isOver = true
    this.asker.task?.stop(reason)
    this.exchange.abort(reason)
  }

  /** Sends a notification to the session of the call, where there is one. */
  notify(method: string, params: Params): void {
    this.#session?.notify?.(method, params)
  }

  contextFor(environment: FeatureEnvironment): CallContext {
    return new TaskContext(this, environment)
  }
}

/** The exchange of a task: answers become its outcome. */
export class TaskExchange extends Exchange {
  readonly #run: TaskRun

  constructor(source: IncomingCall, run: TaskRun) {
    const { id, method, outlet } = source.exchange
    const { sender } = outlet
    super(
      { kind: 'request', id, method, params: source.params },
      { push: () => undefined, answer: () => {}, drop: () => {}, sender },
      () => {},
    )
    this.#run = run
  }

  override get isOver(): boolean {
    return this.#run.isOver || this.#run.origin?.isOver === true
  }

  override push(json: string): undefined | Promise<void> {
    const { origin, task, isOver } = this.#run
    if (origin) return origin.push(json)
    if (task && !isOver) this.#notify(task.taskId, json)
    return undefined
  }

  /** Notifications of a task go to its session, where there is one. The extension has none for progress and log messages. */
  #notify(taskId: string, json: string): void {
    const { method, params } = JSON.parse(json) as { method: string; params: Params & { _meta?: Params } }
    this.#run.notify(method, { ...params, _meta: { ...params._meta, ...relatedTo(taskId) } })
  }

  override release(): void {
    this.#run.origin?.release()
  }

  override answer(result: Params): void {
    this.#end({ result })
  }

  override answerWritten(result: string): void {
    this.#end({ result: JSON.parse(result) as Params })
  }

  override answerKept(result: KeptText): void {
    this.answerWritten(result.text)
  }

  override fail(error: ErrorObject): void {
    this.#end({ error })
  }

  #end(outcome: TaskOutcome): void {
    if (!this.#run.isOver) this.#run.events?.onOutcome(outcome)
  }
}

/** The dialect of a call that may become a task. */
class TaskDialect implements Dialect {
  readonly #caller: Caller
  readonly #run: TaskRun

  constructor(caller: Caller, run: TaskRun) {
    this.#caller = caller
    this.#run = run
  }

  caller(): Omit<Caller, 'auth'> {
    return this.#caller
  }

  asker(): Asker {
    return this.#run.asker
  }

  logLevel(): LogLevel | undefined {
    return this.#run.logLevel
  }

  method(): undefined {
    return undefined
  }

  /** The call cannot be repeated after the visit, so the model gets the pages as text. */
  async requirePages(_call: IncomingCall, error: UrlElicitationRequired): Promise<Params> {
    return errorResult(error.message)
  }
}

/** Progress of a task is its status message, too. */
class TaskContext extends CallContext {
  readonly #run: TaskRun

  constructor(run: TaskRun, environment: FeatureEnvironment) {
    super(run.call, environment)
    this.#run = run
  }

  override progress(progress: number, total?: number, message?: string): Promise<void> {
    const sent = super.progress(progress, total, message)
    const { task, isOver, events } = this.#run
    const text = message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`)
    if (!task) this.#run.said = text
    else if (!isOver) events?.onProgress(text)
    return sent
  }
}
