/** Reports what goes wrong with tasks outside of requests. */

import type { TaskHead } from '../../protocol/interfaces/task-record.ts'
import { isClosed, isDown } from '../../store/faults.ts'
import type { ServerState } from '../server-state.ts'
import type { TaskTable } from './task-table.ts'

export class TaskReports {
  readonly #serverState: ServerState
  readonly #table: TaskTable
  readonly #onClosed: () => void

  /** @param onClosed called when the store of the tasks was closed, which is no fault */
  constructor(serverState: ServerState, table: TaskTable, onClosed: () => void) {
    this.#serverState = serverState
    this.#table = table
    this.#onClosed = onClosed
  }

  /** @param method what failed: the call of a tool that became a task, or `tasks` for what a process does for all of them */
  report(error: unknown, method: 'tools/call' | 'tasks', task?: TaskHead): void {
    if (isClosed(error)) return this.#onClosed()
    const { shared } = this.#serverState
    // The transport uses this store, too, and says once that it is down.
    if (isDown(error) && shared?.report && shared.tasks === this.#table.store) return shared.report(error)
    this.#serverState.report(error, { reference: task?.taskId ?? '', method, target: task?.tool })
  }
}
