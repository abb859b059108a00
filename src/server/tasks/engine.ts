/** Runs tasks: creates, reads, changes, expires and restarts them. */

import { randomId } from '../../base/bytes.ts'
import type { Deadline } from '../../base/deadlines.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import { demand } from '../../protocol/interfaces/access.ts'
import { expiryOf, type TaskHead, type TaskJournal, type TaskRecord } from '../../protocol/interfaces/task-record.ts'
import { relatedTo, requestedTask, statusText } from '../../protocol/model/kept-task.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { isDown } from '../../store/faults.ts'
import { settle } from '../dispatch.ts'
import type { IncomingCall } from '../incoming-call.ts'
import type { ServerState } from '../server-state.ts'
import { Expiries } from './expiries.ts'
import { extensionTask } from './extension-form.ts'
import type { TaskRules, TaskTool } from './hook.ts'
import { HAD_ALL_RUNS, LOST, MAX_RUNS } from './kept-outcome.ts'
import { DEFAULT_TASK_LIMITS, type TaskLimits } from './limits.ts'
import { Accounts, newTask, refuseIfImpossible, ttlFor } from './new-task.ts'
import { DEFAULT_TASK_OPTIONS, type TaskOptions, type TaskSettings } from './options.ts'
import { isAnonymous, ownerOf, type TaskKey } from './owner.ts'
import { receivedBy } from './received-answers.ts'
import { restartedCall } from './restarted-call.ts'
import { RunningHandlers } from './running-handlers.ts'
import type { TaskAnswers } from './task-answers.ts'
import { TaskReports } from './task-reports.ts'
import { TaskRun } from './task-run.ts'
import { TaskRuns } from './task-runs.ts'
import { TaskTable } from './task-table.ts'
import { Tending } from './tending.ts'
import { cancel, finish, takeOver } from './transitions.ts'
import { UnwantedTasks } from './unwanted-tasks.ts'

/** How soon to try again to turn a call into a task that waits for an answer. */
const RETRY_MS = 50

export class TaskEngine {
  readonly serverState: ServerState
  readonly table: TaskTable
  readonly limits: TaskLimits
  readonly settings: TaskSettings
  readonly answers: TaskAnswers
  readonly #holder = randomId()
  readonly #runs: TaskRuns
  readonly #expiries: Expiries
  readonly #accounts = new Accounts()
  readonly #unwanted: UnwantedTasks
  readonly #handlers = new RunningHandlers()
  #ready: Promise<void> | undefined
  readonly #tending: Tending
  readonly #reports: TaskReports

  constructor(serverState: ServerState, options: TaskOptions) {
    const { store, onChange, limits, leaseMs, ...given } = options
    this.serverState = serverState
    this.limits = withDefaults(DEFAULT_TASK_LIMITS, limits)
    this.table = new TaskTable(serverState, this.limits, { store, onChange, leaseMs })
    this.settings = withDefaults<TaskSettings, Partial<TaskSettings>>(DEFAULT_TASK_OPTIONS, given, { of: 'tasks' })
    this.#reports = new TaskReports(serverState, this.table, () => this.#onStoreClosed())
    this.#runs = new TaskRuns({
      serverState,
      table: this.table,
      maxTaskBytes: this.limits.maxTaskBytes,
      tendLater: () => this.#tending.later(),
      report: (task, error) => this.#report(task, error),
    })
    this.answers = this.#runs.answers
    this.#expiries = new Expiries({
      deadlines: serverState.deadlines,
      now: () => this.table.now(),
      stopWaiting: (task) => this.#stopWaiting(task),
      expire: (task) => this.#expire(task),
      report: (task, error) => this.#report(task, error),
    })
    this.#unwanted = new UnwantedTasks(this.table)
    this.#tending = new Tending({
      serverState,
      table: this.table,
      runs: this.#runs,
      unwanted: this.#unwanted,
      reports: this.#reports,
      remove: (task) => this.#remove(task),
      recover: (task) => this.#recover(task),
    })
  }

  /** Looks for tasks that other processes left behind. */
  start(): Promise<void> {
    this.#ready ??= this.table.store.isShared ? this.#tending.tend() : Promise.resolve()
    // A store that fails is asked again.
    this.#ready.catch(() => {
      this.#ready = undefined
    })
    return this.#ready
  }

  /** Answers a call of a tool, with its result or with a task. */
  async call(call: IncomingCall, tool: TaskTool): Promise<Params> {
    const { rules, name } = tool
    const isRequested = call.revision.tasks === 'requested'
    const wish = isRequested ? call.params.task : undefined
    refuseIfImpossible(call, tool, wish)
    const { isRequired, afterMs = isRequired ? 0 : this.settings.afterMs } = rules as TaskRules
    const ttlMs = ttlFor(call, wish, rules as TaskRules, this.settings)
    if (!isRequested && afterMs > 0) return this.#later(call, tool, ttlMs, afterMs)
    const task = this.#newTask(call, name, ttlMs, { callId: randomId(), asked: {}, answers: {}, steps: {} })
    await this.#create(task, call)
    if (call.exchange.isOver) {
      await this.#discard(task)
      throw new DOMException('The client cancelled the call', 'AbortError')
    }
    await this.#run(call, tool, task)
    return this.created(task, call)
  }

  /** The answer that a task was created. */
  created(task: TaskRecord, { revision }: IncomingCall): Params {
    if (revision.tasks === 'extension') return { resultType: 'task', ...extensionTask(task) }
    return { task: requestedTask(task), _meta: relatedTo(task.taskId) }
  }

  /** Counts a request about tasks, or one that is as much work as several. */
  async admit(call: IncomingCall, requests = 1): Promise<void> {
    const { taskRequests: rate } = this.limits
    // A request that is larger than the burst takes all of it.
    await call.quota.spend('taskRequests', rate, rate === false ? 0 : Math.min(requests, rate.burst))
    await this.start()
  }

  /** The task that a request names, if it belongs to the caller. Throws the same error for all others. */
  async own(call: IncomingCall): Promise<TaskRecord> {
    await this.admit(call)
    const { taskId } = call.params
    if (typeof taskId !== 'string') throw new McpError('ERR_INVALID_PARAMS', 'params.taskId must be a string')
    const task = await this.table.read({ owner: ownerOf(call), taskId })
    if (!task) throw new McpError('ERR_INVALID_PARAMS', 'Task not found. It may have expired')
    demand(call.access, this.serverState.tools.scopesOf(task.tool))
    return task
  }

  /** Ends a task on behalf of its caller. Undefined if it had ended. */
  async cancel(key: TaskKey): Promise<TaskRecord | undefined> {
    const cancelled = await this.table.change(key, cancel('The client asked for it'))
    if (cancelled) this.#runs.stop(key, new DOMException('The client cancelled the task', 'AbortError'))
    return cancelled
  }

  get running(): number {
    return this.#runs.kept.length
  }

  /** Hands tasks over that other processes can continue, and takes none over. Resolves when they may be continued. */
  handOver(): Promise<void> {
    return this.#runs.handOver(() => this.#tending.whenQuiet())
  }

  takeOverAgain(): void {
    this.#runs.takeOverAgain()
  }

  /** Resolves when no task runs here. */
  whenIdle(): Promise<void> {
    return this.#runs.whenIdle()
  }

  /** Ends the tasks that run here and are in the store of the transport. Other processes would wait for the end of their leases. */
  async endShared(): Promise<void> {
    if (this.#runs.all.length > 0 && this.table.store === this.serverState.shared?.tasks) await this.#runs.leaveAll()
  }

  /** Ends all tasks that run here, and runs no other ones. */
  async close(): Promise<void> {
    this.#expiries.stop()
    await Promise.all([this.#unwanted.remove(), this.#runs.close(this.#tending.stop())])
  }

  /** Starts a plain call that becomes a task if it takes long and asks nothing. */
  #later(call: IncomingCall, tool: TaskTool, ttlMs: number, afterMs: number): Promise<Params> {
    const { deadlines, limits } = this.serverState
    const run = new TaskRun(call, true, (own) => call.dialect.asker(own))
    return new Promise<Params>((resolve, reject) => {
      let creating: Promise<unknown> | undefined
      let deadline: Deadline
      const become = async (): Promise<void> => {
        const { journal, names } = run.asker.handOver()
        const { callId, asked, answers, steps } = journal
        const { said } = run
        const task = {
          ...this.#newTask(call, tool.name, ttlMs, structuredClone({ callId, asked, answers, steps })),
          ...(said !== undefined && { statusMessage: statusText(said) }),
        }
        const asker = this.#runs.askerFor(task, journal, names)
        const created = this.#create(task, call).then(async () => {
          if (!call.exchange.isOver) return asker
          await this.#discard(task)
          return undefined
        })
        run.asker.switchTo(created)
        if (!(await created)) return
        await this.#runs.adopt(run, tool, task)
        if (run.said !== undefined && run.said !== said) run.events?.onProgress(run.said)
        resolve(this.created(task, call))
      }
      const stay = (): void => {
        // Too many tasks: it remains a plain call, with the time limit of one.
        const ms = tool.timeoutMs ?? limits.handlerTimeoutMs
        deadline = deadlines.set(Math.max(0, ms - afterMs), () => {
          const error = new McpError('ERR_TIMEOUT', `${call.method} took longer than ${ms} ms (timeoutMs)`)
          run.stop(error)
          reject(error)
        })
      }
      const consider = (): void => {
        if (!run.asker.canSwitch) {
          deadline = deadlines.set(RETRY_MS, consider)
          return
        }
        creating = become().catch(stay)
      }
      deadline = deadlines.set(afterMs, consider)
      const end = async (work: () => Params | Promise<Params>): Promise<void> => {
        await creating
        deadlines.clear(deadline)
        if (run.task) settle(run.call, this.serverState, work)
        else resolve(new Promise<Params>((done) => done(work())))
      }
      const started = new Promise<Params>((done) => done(this.#start(run, tool, tool.timeoutMs ?? ttlMs)))
      started.then(
        (result) => end(() => result),
        (error: unknown) =>
          end(() => {
            throw error
          }),
      )
    })
  }

  /** Runs a handler as a task from its start. */
  async #run(call: IncomingCall, tool: TaskTool, task: TaskRecord): Promise<void> {
    const run = new TaskRun(call, false, () => this.#runs.askerFor(task, structuredClone(task.journal)))
    const limitMs = tool.timeoutMs ?? Math.max(1, expiryOf(task) - this.table.now())
    await this.#runs.adopt(run, tool, task)
    // Later, so that the client knows the task before it hears about it.
    setTimeout(() => {
      if (!run.isOver) settle(run.call, this.serverState, () => this.#start(run, tool, limitMs))
    }, 0)
  }

  #start(run: TaskRun, tool: TaskTool, limitMs: number): Params | Promise<Params> {
    return tool.start(run.call, run.contextFor(this.serverState), limitMs, (value) => this.#handlers.add(run, value))
  }

  #newTask(call: IncomingCall, tool: string, ttlMs: number, journal: TaskJournal): TaskRecord {
    const lease = { holder: this.#holder, epoch: 1, until: this.table.leaseEnd() }
    const { pollIntervalMs } = this.settings
    return newTask(call, { tool, account: this.#accounts.of(call), ttlMs, pollIntervalMs, journal, lease }, this.table.now())
  }

  async #create(task: TaskRecord, call: IncomingCall): Promise<void> {
    const leftOver = [...this.#handlers.leftOver(this.table.now()), ...this.#unwanted.accounts]
    try {
      await this.table.create(task, leftOver, isAnonymous(call))
    } catch (error) {
      // The store may have the task. Its caller gets this error, or the call goes on without a task.
      if (isDown(error)) this.#removeLater(task)
      throw error
    }
    this.#expiries.schedule(task)
    if (this.table.store.isShared) this.#tending.later()
  }

  /** Removes a task that its client does not know, because it is gone. */
  async #discard(task: TaskRecord): Promise<void> {
    try {
      await this.#remove(task)
    } catch (error) {
      this.#removeLater(task)
      throw error
    }
  }

  #removeLater(task: TaskRecord): void {
    this.#unwanted.add(task)
    this.#tending.later()
  }

  /** The time of a task is over. */
  async #expire(task: TaskRecord): Promise<void> {
    // Nobody who asks later learns the reason, because the task is deleted.
    if (this.#runs.has(task)) this.#report(task, tookTooLong(task))
    await this.#remove(task)
  }

  /** Nobody answers any more. The handler and its client still have time to say so. */
  async #stopWaiting(key: TaskKey): Promise<void> {
    const task = this.#runs.has(key) ? await this.table.read(key) : undefined
    for (const name of Object.keys(task?.questions ?? {}))
      await this.answers.refuse(
        key,
        name,
        new McpError('ERR_TIMEOUT', `The question ${JSON.stringify(name)} got no answer before the time of the task was over (ttl)`),
      )
  }

  /** Deletes a task, and stops it if it runs. */
  async #remove(task: TaskHead): Promise<void> {
    this.#expiries.forget(task)
    this.#runs.stop(task, tookTooLong(task))
    await this.table.remove(task)
  }

  /** Continues a task whose process is gone, or ends it. */
  async #recover(head: TaskHead): Promise<void> {
    const orphan = await this.table.read(head)
    if (orphan?.lease.epoch !== head.lease.epoch) return
    const given = await receivedBy(orphan)
    // The next process takes it over.
    if (!this.#runs.takesOver) return
    const taken = await this.table.change(orphan, (task) =>
      task.lease.epoch === orphan.lease.epoch ? takeOver(this.#holder, this.table.leaseEnd(), given)(task) : undefined,
    )
    if (!taken) return
    this.#expiries.schedule(taken)
    const tool = await this.serverState.tools.restart(taken.tool, taken.params.arguments ?? {})
    const call = tool?.rules?.isRestartable ? restartedCall(taken, this.serverState) : undefined
    if (!tool || !call) await this.table.change(taken, finish(LOST))
    else if (taken.runs > MAX_RUNS) await this.table.change(taken, finish(HAD_ALL_RUNS))
    else await this.#run(call, tool, taken)
  }

  /** Nothing can be kept any more, and other processes take over what can be continued. */
  #onStoreClosed(): void {
    this.#expiries.stop()
    void this.#tending.stop()
    this.#runs.abandon(new McpError('ERR_CLOSED', 'The store of the tasks was closed'))
  }

  #report(task: TaskHead, error: unknown): void {
    this.#reports.report(error, 'tools/call', task)
  }
}

const tookTooLong = ({ ttlMs }: TaskHead): McpError => new McpError('ERR_TIMEOUT', `The task took longer than ${ttlMs} ms (ttl)`)
