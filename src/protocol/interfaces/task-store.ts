/** The interface of a store for tasks. Types only. */

import type { TaskHead, TaskLease, TaskRecord } from './task-record.ts'

/** How many tasks a store keeps. */
export interface TaskCaps {
  /** Of one account. */
  perAccount: number
  /** In all. */
  total: number
}

/** Why a store did not create a task. */
export type CreateRefusal = 'account-full' | 'store-full'

/**
 * Keeps tasks. Several processes may share a store: every change names the edition that it replaces, so that no change is lost, and
 * the lease in the record says which process runs the task. A method that cannot reach the store, or gets no
 * reply, rejects with ERR_STORE_DOWN: then the process tries again. `checkTaskStore` of portico/testing tests an implementation.
 */
export interface TaskStore {
  /** Whether other processes may change its tasks, or find them after this process has ended. */
  readonly isShared: boolean
  /** How long a process may be silent before others take over its tasks, unless `tasks({ leaseMs })` says otherwise. */
  readonly leaseMs?: number
  /** How often to call `neglected`, if that takes little. Default: a third of the lease. */
  readonly lookMs?: number
  /** Adds a task. When it resolves, `read` finds the task, also after a crash if the store is durable. */
  create(task: TaskRecord, caps: TaskCaps): Promise<CreateRefusal | undefined>
  read(owner: string, taskId: string): Promise<TaskRecord | undefined>
  /** Reads a task without its content, where that takes less than `read`. */
  head(owner: string, taskId: string): Promise<TaskHead | undefined>
  /**
   * Replaces a task if its edition is `task.edition - 1`. Returns false otherwise, and if there is no such task. The end of the lease
   * stays while its holder and its epoch do: only `renew` changes it.
   */
  replace(task: TaskRecord): Promise<boolean>
  /**
   * Sets the end of the lease, if the task is unfinished and `lease` has its holder and its epoch. Returns false otherwise. The
   * edition stays the same, and `watch` says nothing. Processes call it often, so it should not write the content of the task.
   */
  renew(owner: string, taskId: string, lease: TaskLease): Promise<boolean>
  /**
   * Removes a task, and what counts it.
   *
   * @param account of the task, for stores that may count a task that they do not have, because `create` or `remove` failed in the middle
   */
  remove(owner: string, taskId: string, account?: string): Promise<void>
  /** The tasks of an owner, oldest first. Tasks can be large: leave out their content where you can. */
  list(owner: string): Promise<TaskHead[]>
  /** Tasks whose time is over, and unfinished tasks that no process runs. */
  neglected(now: number): Promise<TaskHead[]>
  /** Calls `listener` after other processes changed the task. Only for shared stores. Returns a function that stops it. */
  watch?(owner: string, taskId: string, listener: () => void): () => void
}
