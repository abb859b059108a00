/** What a process does for the tasks of a shared store from time to time. */

import type { Deadline } from '../../base/deadlines.ts'
import { expiryOf, type TaskHead } from '../../protocol/interfaces/task-record.ts'
import { isDown } from '../../store/faults.ts'
import type { ServerState } from '../server-state.ts'
import { keyOf } from './owner.ts'
import type { TaskReports } from './task-reports.ts'
import type { TaskRuns } from './task-runs.ts'
import type { TaskTable } from './task-table.ts'
import type { UnwantedTasks } from './unwanted-tasks.ts'

export interface TendingOptions {
  serverState: ServerState
  table: TaskTable
  runs: TaskRuns
  unwanted: UnwantedTasks
  reports: TaskReports
  remove(task: TaskHead): Promise<void>
  /** Continues a task whose process is gone, or ends it. */
  recover(task: TaskHead): Promise<void>
}

export class Tending {
  readonly #options: TendingOptions
  #timer: Deadline | undefined
  readonly #underWay = new Set<Promise<void>>()
  #isStoreDown = false
  /** Why the last look failed. */
  #fault: string | undefined
  #isStopped = false
  /** The tasks that could not be tended the last time. Each is reported once. */
  #failed: ReadonlySet<string> = new Set()

  constructor(options: TendingOptions) {
    this.#options = options
  }

  /** Renews our leases, deletes old tasks, and takes over the tasks of processes that are gone. Then again after a while. */
  tend(): Promise<void> {
    const tended = this.#tend().finally(() => this.#underWay.delete(tended))
    this.#underWay.add(tended)
    return tended
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer) this.#options.serverState.deadlines.clear(this.#timer)
    await this.whenQuiet()
  }

  /** Resolves when what is under way now is over. */
  async whenQuiet(): Promise<void> {
    await Promise.allSettled(this.#underWay)
  }

  /** Tends after a while, once. */
  later(): void {
    if (this.#isStopped) return
    const { serverState, table } = this.#options
    const { lookMs = Number.POSITIVE_INFINITY } = table.store
    this.#timer ??= serverState.deadlines.set(Math.min(lookMs, table.leaseMs / 3), () => {
      this.#timer = undefined
      this.tend().catch((error: Error) => {
        if (error.message !== this.#fault) this.#report(error, undefined)
        this.#fault = error.message
      })
    })
  }

  async #tend(): Promise<void> {
    const { table, runs, unwanted, remove, recover } = this.#options
    let isWritable = true
    try {
      await Promise.all(
        runs.all.map(async (running) => {
          // Also the lease of a handler that has ended: nothing must run it again before its outcome is stored.
          await runs.renew(running).catch((error: unknown) => {
            isWritable = false
            // What keeps an outcome out of the store was reported when the handler ended.
            if (!running.outcome) this.#report(error, running.task)
          })
          if (running.outcome) {
            await runs.save(running).catch(() => {
              isWritable = false
            })
          }
        }),
      )
      await unwanted.remove()
      const failed = new Set<string>()
      for (const task of await table.store.neglected(table.now())) {
        if (this.#isStopped) return
        try {
          if (expiryOf(task) <= table.now()) await remove(task)
          else if (!runs.has(task) && !unwanted.has(task)) await recover(task)
        } catch (error) {
          if (isDown(error)) throw error
          // One task that is damaged must not stop the others.
          if (!this.#failed.has(keyOf(task))) this.#report(error, task)
          failed.add(keyOf(task))
        }
      }
      this.#failed = failed
      // A store that refuses only changes is still down.
      if (isWritable) this.#isStoreDown = false
      this.#fault = undefined
    } finally {
      this.later()
    }
  }

  /** A store that is down fails again every second, and is reported once. */
  #report(error: unknown, task: TaskHead | undefined): void {
    if (isDown(error)) {
      if (this.#isStoreDown) return
      this.#isStoreDown = true
    }
    this.#options.reports.report(error, 'tasks', task)
  }
}
