/** Tasks that no client knows, because the store did not confirm their creation or their removal. No process must continue them. */

import { expiryOf, type TaskHead } from '../../protocol/interfaces/task-record.ts'
import { isDown } from '../../store/faults.ts'
import { keyOf, type TaskKey } from './owner.ts'
import type { TaskTable } from './task-table.ts'

type UnwantedTask = Pick<TaskHead, 'owner' | 'taskId' | 'account' | 'createdAt' | 'ttlMs'>

/** They count as tasks, so their number is limited. */
export class UnwantedTasks {
  readonly #table: TaskTable
  readonly #tasks = new Map<string, UnwantedTask>()

  constructor(table: TaskTable) {
    this.#table = table
  }

  /** The accounts of the tasks. */
  get accounts(): string[] {
    return [...this.#tasks.values()].map(({ account }) => account)
  }

  add({ owner, taskId, account, createdAt, ttlMs }: TaskHead): void {
    this.#tasks.set(keyOf({ owner, taskId }), { owner, taskId, account, createdAt, ttlMs })
  }

  has(key: TaskKey): boolean {
    return this.#tasks.has(keyOf(key))
  }

  /** Removes them from the store. Those that cannot be removed are left for the next time. */
  async remove(): Promise<void> {
    for (const [name, task] of this.#tasks) {
      try {
        // Every process deletes tasks whose time is over.
        if (expiryOf(task) > this.#table.now()) await this.#table.remove(task)
        this.#tasks.delete(name)
      } catch (error) {
        // The others would fail in the same way.
        if (isDown(error)) return
      }
    }
  }
}
