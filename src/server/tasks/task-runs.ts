/** The tasks that this process runs, until the store has their outcomes. */

import { McpError } from '../../protocol/errors.ts'
import type { TaskHead, TaskJournal, TaskRecord } from '../../protocol/interfaces/task-record.ts'
import { requestedTask, statusText, type TaskOutcome } from '../../protocol/model/kept-task.ts'
import { isFinal } from '../../protocol/model/tasks.ts'
import { isDown } from '../../store/faults.ts'
import type { ServerState } from '../server-state.ts'
import { questionsFor } from './answerable.ts'
import type { TaskTool } from './hook.ts'
import { isLimit, notStored, STOPPED, withinLimit } from './kept-outcome.ts'
import { keyOf, type TaskKey } from './owner.ts'
import { statusMessages } from './status-messages.ts'
import { TaskAnswers } from './task-answers.ts'
import { TaskAsker } from './task-asker.ts'
import type { Running, TaskRun } from './task-run.ts'
import type { TaskTable } from './task-table.ts'
import { ask, finish, HANDED_OVER, heldBy, keepSteps, say, type Transition } from './transitions.ts'

/** A lease that could not be renewed is given up after this part of it. */
const GIVE_UP_AFTER = 0.6

export interface TaskRunsOptions {
  serverState: ServerState
  table: TaskTable
  maxTaskBytes: number
  /** Tends to the tasks after a while: something could not be read or stored. */
  tendLater(): void
  report(task: TaskHead, error: unknown): void
}

export class TaskRuns {
  readonly answers: TaskAnswers
  readonly #options: TaskRunsOptions
  readonly #all = new Map<string, Running>()
  readonly #onIdle: (() => void)[] = []
  #isClosed = false
  #isLeaving = false

  constructor(options: TaskRunsOptions) {
    const { table, maxTaskBytes } = options
    this.#options = options
    this.answers = new TaskAnswers({
      table,
      runs: this.#all,
      maxTaskBytes,
      follow: (running) => this.follow(running),
      followLater: (running) => this.#followLater(running),
    })
  }

  /** Whether tasks of processes that are gone may continue here. */
  get takesOver(): boolean {
    return !this.#isClosed && !this.#isLeaving
  }

  get all(): readonly Running[] {
    return [...this.#all.values()]
  }

  /** Those that no other process can continue. */
  get kept(): readonly Running[] {
    return this.all.filter((running) => !this.#canLeave(running))
  }

  has(key: TaskKey): boolean {
    return this.#all.has(keyOf(key))
  }

  /** The task belongs to this run from now on. It ends at once if nothing runs here any more. */
  async adopt(run: TaskRun, tool: TaskTool, task: TaskRecord): Promise<void> {
    const { serverState, table, report } = this.#options
    run.events = {
      onOutcome: (outcome) => void this.#finish(task, outcome),
      onProgress: statusMessages(serverState.deadlines, (text) => {
        if (run.isOver) return
        table.change(task, heldBy(task.lease, say(statusText(text)))).catch((error: unknown) => report(task, error))
      }),
    }
    run.detach(task)
    const { capabilities } = task.caller
    const unlisten = table.listen(
      task,
      (changed) =>
        changed && run.notify('notifications/tasks/status', { ...requestedTask(changed), ...questionsFor(changed, capabilities).note }),
    )
    const forget = (): void => {
      unlisten()
      stopFollowing()
    }
    const running: Running = { run, tool, task, renewedAt: table.moment(), forget }
    const stopFollowing = table.listenToOthers(task, (stored) => void this.follow(running, stored).catch(() => {}))
    this.#all.set(keyOf(task), running)
    if (this.#isClosed || (this.#isLeaving && this.#canLeave(running))) await this.#leave(running)
  }

  /** Asks for the handler of a task, and keeps its steps. */
  askerFor(task: TaskRecord, journal: TaskJournal, names?: ConstructorParameters<typeof TaskAsker>[2]): TaskAsker {
    const { table, maxTaskBytes } = this.#options
    const required = async (transition: Transition): Promise<TaskRecord> => {
      const changed = await table.change(task, heldBy(task.lease, transition))
      if (!changed) throw new DOMException('The task has ended', 'AbortError')
      return changed
    }
    const { capabilities } = task.caller
    return new TaskAsker(
      {
        tool: task.tool,
        capabilities,
        maxChars: maxTaskBytes,
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

  /** Tells the handler what the store knows: the task was cancelled, answered or taken over by another process, or a reply was lost. */
  async follow(running: Running, reading = this.#options.table.read(running.task)): Promise<void> {
    const { run, task } = running
    running.isBehind = false
    try {
      const stored = await reading
      if (this.#all.get(keyOf(task)) !== running) return
      if (!stored || isFinal(stored) || stored.lease.epoch !== task.lease.epoch)
        return this.stop(task, new DOMException('The task has ended', 'AbortError'))
      await run.asker.task?.catchUp(stored)
      await this.answers.takeReceived(stored)
    } catch (error) {
      this.#followLater(running)
      throw error
    }
  }

  /** Renews the lease of a run, and tells the handler what it has missed. */
  async renew(running: Running): Promise<void> {
    await this.#renew(running)
    if (running.isBehind) await this.follow(running)
  }

  /** Stores an outcome that could not be stored before, if the store can be reached. */
  save(running: Running): Promise<void> {
    return this.#save(running, (error) => !isDown(error))
  }

  /** Ends a run without an outcome. */
  stop(key: TaskKey, reason: unknown): void {
    this.#all.get(keyOf(key))?.run.stop(reason)
    this.#forget(key)
  }

  /**
   * Leaves the tasks that other processes can continue to them, and takes none over.
   *
   * @param whenTended resolves when no lease is being renewed: a renewal would take the task back
   */
  async handOver(whenTended: () => Promise<void>): Promise<void> {
    this.#isLeaving = true
    await whenTended()
    await Promise.all(this.all.map((running) => this.#isLeaving && this.#canLeave(running) && this.#leave(running)))
  }

  takeOverAgain(): void {
    this.#isLeaving = false
  }

  whenIdle(): Promise<void> {
    return this.#all.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve))
  }

  /**
   * Ends all, and runs no other ones.
   *
   * @param tended resolves when no lease is renewed any more
   */
  async close(tended: Promise<void>): Promise<void> {
    this.#isClosed = true
    await tended
    await this.leaveAll()
  }

  async leaveAll(): Promise<void> {
    await Promise.all(this.all.map((running) => this.#leave(running)))
  }

  /** Ends all runs without telling the store, and runs no other ones. */
  abandon(reason: unknown): void {
    this.#isClosed = true
    for (const { task } of this.all) this.stop(task, reason)
  }

  /** Ends a run. If its task can be restarted, the next process continues it. */
  async #leave(running: Running): Promise<void> {
    const { task, outcome } = running
    if (outcome) return this.#save(running, () => true).catch(() => this.#forget(task))
    this.stop(task, new McpError('ERR_CLOSED', 'The server was closed'))
    const { table } = this.#options
    const ended = this.#canLeave(running) ? table.renew(task, HANDED_OVER) : table.change(task, heldBy(task.lease, finish(STOPPED)))
    await ended.catch(() => {})
  }

  /** Whether another process can run the handler again. With an outcome nothing must run it again. */
  #canLeave({ tool, outcome }: Running): boolean {
    return !outcome && this.#options.table.store.isShared && tool.rules?.isRestartable === true
  }

  #followLater(running: Running): void {
    running.isBehind = true
    this.#options.tendLater()
  }

  async #finish(key: TaskKey, outcome: TaskOutcome): Promise<void> {
    const { maxTaskBytes, tendLater, report } = this.#options
    const running = this.#all.get(keyOf(key))
    if (!running || running.run.isOver) return
    running.run.isOver = true
    running.outcome = withinLimit(outcome, maxTaskBytes)
    try {
      await this.#save(running, isLimit)
    } catch (error) {
      report(running.task, error)
      // The run is kept until then, so that nothing runs it again.
      tendLater()
    }
  }

  /** Stores the outcome of a run. After an error for which `givesUp` is true it stores the reason instead, which takes less room. */
  async #save({ task, outcome = STOPPED }: Running, givesUp: (error: unknown) => boolean): Promise<void> {
    const end = (kept: TaskOutcome): Promise<unknown> => this.#options.table.change(task, heldBy(task.lease, finish(kept)))
    await end(outcome).catch((error: unknown) => {
      if (!givesUp(error)) throw error
      return end(notStored(error))
    })
    this.#forget(task)
  }

  #forget(key: TaskKey): void {
    this.#all.get(keyOf(key))?.forget()
    this.#all.delete(keyOf(key))
    if (this.#all.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  async #renew(running: Running): Promise<void> {
    const { task } = running
    const { table } = this.#options
    const startedAt = table.moment()
    if (table.since(running.renewedAt) < table.leaseMs / 4) return
    try {
      if (await table.renew(task, table.leaseEnd())) running.renewedAt = startedAt
      else await this.follow(running)
    } catch (error) {
      // The handler must stop before another process takes the task over. An outcome is kept, because it may still be stored.
      if (!running.outcome && table.since(running.renewedAt) >= table.leaseMs * GIVE_UP_AFTER) this.stop(task, error)
      throw error
    }
  }
}
