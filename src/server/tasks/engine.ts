/** Runs tasks: creates, reads, changes, expires and restarts them. */

import { randomId } from '../../base/bytes.ts'
import type { Deadline } from '../../base/deadlines.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import { demand } from '../../protocol/interfaces/access.ts'
import { expiryOf, type TaskHead, type TaskJournal, type TaskRecord } from '../../protocol/interfaces/task-record.ts'
import { relatedTo, requestedTask, statusText, type TaskOutcome } from '../../protocol/model/kept-task.ts'
import { isFinal } from '../../protocol/model/tasks.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { settle } from '../dispatch.ts'
import type { IncomingCall } from '../incoming-call.ts'
import type { ServerState } from '../server-state.ts'
import { questionsFor } from './answerable.ts'
import { Expiries } from './expiries.ts'
import { extensionTask } from './extension-form.ts'
import type { TaskRules, TaskTool } from './hook.ts'
import { isDown, isLimit, LOST, notStored, STOPPED, withinLimit } from './kept-outcome.ts'
import { DEFAULT_TASK_LIMITS, type TaskLimits } from './limits.ts'
import { Accounts, newTask, refuseIfImpossible, ttlFor } from './new-task.ts'
import { DEFAULT_TASK_OPTIONS, type TaskOptions, type TaskSettings } from './options.ts'
import { isAnonymous, keyOf, ownerOf, type TaskKey } from './owner.ts'
import { receivedBy } from './received-answers.ts'
import { restartedCall } from './restarted-call.ts'
import { RunningHandlers } from './running-handlers.ts'
import { statusMessages } from './status-messages.ts'
import { TaskAnswers } from './task-answers.ts'
import { TaskAsker } from './task-asker.ts'
import { type Running, TaskRun } from './task-run.ts'
import { TaskTable } from './task-table.ts'
import { Tending } from './tending.ts'
import { ask, cancel, finish, heldBy, keepSteps, say, type Transition, takeOver } from './transitions.ts'
import { UnwantedTasks } from './unwanted-tasks.ts'

/** How soon to try again to turn a call into a task that waits for an answer. */
const RETRY_MS = 50
/** A lease that could not be renewed is given up after this part of it. */
const GIVE_UP_AFTER = 0.6

export class TaskEngine {
  readonly serverState: ServerState
  readonly table: TaskTable
  readonly limits: TaskLimits
  readonly settings: TaskSettings
  readonly answers: TaskAnswers
  readonly #holder = randomId()
  readonly #runs = new Map<string, Running>()
  readonly #expiries: Expiries
  readonly #accounts = new Accounts()
  readonly #unwanted: UnwantedTasks
  readonly #handlers = new RunningHandlers()
  #ready: Promise<void> | undefined
  readonly #tending: Tending

  constructor(serverState: ServerState, options: TaskOptions) {
    const { store, onChange, limits, leaseMs, ...given } = options
    this.serverState = serverState
    this.limits = withDefaults(DEFAULT_TASK_LIMITS, limits)
    this.table = new TaskTable(serverState, this.limits, { store, onChange, leaseMs })
    this.settings = withDefaults<TaskSettings, Partial<TaskSettings>>(DEFAULT_TASK_OPTIONS, given, { of: 'tasks' })
    this.answers = new TaskAnswers({
      table: this.table,
      runs: this.#runs,
      maxTaskBytes: this.limits.maxTaskBytes,
      follow: (running) => this.#follow(running),
      followLater: (running) => this.#followLater(running),
    })
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
      save: (running) => this.#save(running, (error) => !isDown(error)),
      renew: async (running) => {
        await this.#renew(running)
        if (running.isBehind) await this.#follow(running)
      },
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
    this.#run(call, tool, task)
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
    if (cancelled) this.#stop(key, new DOMException('The client cancelled the task', 'AbortError'))
    return cancelled
  }

  /** Ends all tasks that run here. Those that can be restarted are left to the next process. */
  async close(): Promise<void> {
    this.#tending.stop()
    await this.#ready?.catch(() => {})
    const reason = new McpError('ERR_CLOSED', 'The server was closed')
    await Promise.all([
      this.#unwanted.remove(),
      ...[...this.#runs.values()].map(async (running) => {
        const { task, tool, outcome } = running
        if (outcome) return this.#save(running, () => true).catch(() => this.#forget(task))
        this.#stop(task, reason)
        const isKept = this.table.store.isShared && tool.rules?.isRestartable
        const ended = isKept ? this.table.renew(task, 0) : this.table.change(task, heldBy(task.lease, finish(STOPPED)))
        await ended.catch(() => {})
      }),
    ])
    this.#expiries.stop()
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
        const asker = this.#askerFor(task, journal, names)
        const created = this.#create(task, call).then(async () => {
          if (!call.exchange.isOver) return asker
          await this.#discard(task)
          return undefined
        })
        run.asker.switchTo(created)
        if (!(await created)) return
        this.#adopt(run, tool, task)
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
  #run(call: IncomingCall, tool: TaskTool, task: TaskRecord): void {
    const run = new TaskRun(call, false, () => this.#askerFor(task, structuredClone(task.journal)))
    this.#adopt(run, tool, task)
    const limitMs = tool.timeoutMs ?? Math.max(1, expiryOf(task) - this.table.now())
    // Later, so that the client knows the task before it hears about it.
    setTimeout(() => {
      if (!run.isOver) settle(run.call, this.serverState, () => this.#start(run, tool, limitMs))
    }, 0)
  }

  #start(run: TaskRun, tool: TaskTool, limitMs: number): Params | Promise<Params> {
    return tool.start(run.call, run.contextFor(this.serverState), limitMs, (value) => this.#handlers.add(run, value))
  }

  /** The task belongs to this run from now on. */
  #adopt(run: TaskRun, tool: TaskTool, task: TaskRecord): void {
    run.events = {
      onOutcome: (outcome) => void this.#finish(task, outcome),
      onProgress: statusMessages(this.serverState.deadlines, (text) => {
        if (run.isOver) return
        this.table.change(task, heldBy(task.lease, say(statusText(text)))).catch((error: unknown) => this.#report(task, error))
      }),
    }
    run.detach(task)
    const { capabilities } = task.caller
    const unlisten = this.table.listen(
      task,
      (changed) =>
        changed && run.notify('notifications/tasks/status', { ...requestedTask(changed), ...questionsFor(changed, capabilities).note }),
    )
    const forget = (): void => {
      unlisten()
      unwatch?.()
    }
    const running: Running = { run, tool, task, renewedAt: this.table.moment(), forget }
    const unwatch = this.table.store.watch?.(task.owner, task.taskId, () => void this.#follow(running).catch(() => {}))
    this.#runs.set(keyOf(task), running)
  }

  /** Tells the handler what the store knows: the task was cancelled, answered or taken over by another process, or a reply was lost. */
  async #follow(running: Running): Promise<void> {
    const { run, task } = running
    running.isBehind = false
    try {
      const stored = await this.table.read(task)
      if (this.#runs.get(keyOf(task)) !== running) return
      if (!stored || isFinal(stored) || stored.lease.epoch !== task.lease.epoch)
        return this.#stop(task, new DOMException('The task has ended', 'AbortError'))
      await run.asker.task?.catchUp(stored)
      await this.answers.takeReceived(stored)
    } catch (error) {
      this.#followLater(running)
      throw error
    }
  }

  #followLater(running: Running): void {
    running.isBehind = true
    this.#tending.later()
  }

  #askerFor(task: TaskRecord, journal: TaskJournal, names?: ConstructorParameters<typeof TaskAsker>[2]): TaskAsker {
    const required = async (transition: Transition): Promise<TaskRecord> => {
      const changed = await this.table.change(task, heldBy(task.lease, transition))
      if (!changed) throw new DOMException('The task has ended', 'AbortError')
      return changed
    }
    const { capabilities } = task.caller
    const about = { tool: task.tool, capabilities, maxChars: this.limits.maxTaskBytes }
    return new TaskAsker(
      {
        ...about,
        ask: async (questions) => {
          const asked = await required(ask(questions))
          await this.answers.takeReceived(asked).catch(() => {})
        },
        keep: async (steps) => void (await required(keepSteps(steps))),
      },
      journal,
      names,
    )
  }

  async #finish(key: TaskKey, outcome: TaskOutcome): Promise<void> {
    const running = this.#runs.get(keyOf(key))
    if (!running || running.run.isOver) return
    running.run.isOver = true
    running.outcome = withinLimit(outcome, this.limits.maxTaskBytes)
    try {
      await this.#save(running, isLimit)
    } catch (error) {
      this.#report(running.task, error)
      // The run is kept until then, so that nothing runs it again.
      this.#tending.later()
    }
  }

  /** Stores the outcome of a run. After an error for which `givesUp` is true it stores the reason instead, which takes less room. */
  async #save({ task, outcome = STOPPED }: Running, givesUp: (error: unknown) => boolean): Promise<void> {
    const end = (kept: TaskOutcome): Promise<unknown> => this.table.change(task, heldBy(task.lease, finish(kept)))
    await end(outcome).catch((error: unknown) => {
      if (!givesUp(error)) throw error
      return end(notStored(error))
    })
    this.#forget(task)
  }

  #stop(key: TaskKey, reason: unknown): void {
    this.#runs.get(keyOf(key))?.run.stop(reason)
    this.#forget(key)
  }

  #forget(key: TaskKey): void {
    this.#runs.get(keyOf(key))?.forget()
    this.#runs.delete(keyOf(key))
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
    if (this.#runs.has(keyOf(task))) this.#report(task, tookTooLong(task))
    await this.#remove(task)
  }

  /** Nobody answers any more. The handler and its client still have time to say so. */
  async #stopWaiting(key: TaskKey): Promise<void> {
    const task = this.#runs.has(keyOf(key)) ? await this.table.read(key) : undefined
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
    this.#stop(task, tookTooLong(task))
    await this.table.remove(task)
  }

  async #renew(running: Running): Promise<void> {
    const { task } = running
    const { table } = this
    const startedAt = table.moment()
    if (table.since(running.renewedAt) < table.leaseMs / 4) return
    try {
      if (await table.renew(task, table.leaseEnd())) running.renewedAt = startedAt
      else await this.#follow(running)
    } catch (error) {
      // The handler must stop before another process takes the task over. An outcome is kept, because it may still be stored.
      if (!running.outcome && table.since(running.renewedAt) >= table.leaseMs * GIVE_UP_AFTER) this.#stop(task, error)
      throw error
    }
  }

  /** Continues a task whose process is gone, or ends it. */
  async #recover(head: TaskHead): Promise<void> {
    const orphan = await this.table.read(head)
    if (orphan?.lease.epoch !== head.lease.epoch) return
    const given = await receivedBy(orphan)
    const taken = await this.table.change(orphan, (task) =>
      task.lease.epoch === orphan.lease.epoch ? takeOver(this.#holder, this.table.leaseEnd(), given)(task) : undefined,
    )
    if (!taken) return
    this.#expiries.schedule(taken)
    const tool = await this.serverState.tools.restart(taken.tool, taken.params.arguments ?? {})
    const call = tool?.rules?.isRestartable ? restartedCall(taken, this.serverState) : undefined
    if (tool && call) this.#run(call, tool, taken)
    else await this.table.change(taken, finish(LOST))
  }

  #report(task: TaskHead, error: unknown): void {
    this.serverState.report(error, { reference: task.taskId, method: 'tools/call', target: task.tool })
  }
}

const tookTooLong = ({ ttlMs }: TaskHead): McpError => new McpError('ERR_TIMEOUT', `The task took longer than ${ttlMs} ms (ttl)`)
