/** When the time of each task is over: shortly before it no longer waits for answers, and then it is deleted. */

import type { Deadline, Deadlines } from '../../base/deadlines.ts'
import { expiryOf, type TaskRecord } from '../../protocol/interfaces/task-record.ts'
import { keyOf, type TaskKey } from './owner.ts'

/** How long before the end of its time a task no longer waits for answers: at most this, and a tenth of its time. */
const LAST_MS = 10_000

export interface ExpiriesOptions {
  deadlines: Deadlines
  now(): number
  stopWaiting(task: TaskRecord): Promise<void>
  expire(task: TaskRecord): Promise<void>
  report(task: TaskRecord, error: unknown): void
}

export class Expiries {
  readonly #options: ExpiriesOptions
  readonly #deadlines = new Map<string, Deadline>()
  #isStopped = false

  constructor(options: ExpiriesOptions) {
    this.#options = options
  }

  schedule(task: TaskRecord): void {
    const { stopWaiting, expire } = this.#options
    const key = keyOf(task)
    if (this.#isStopped || this.#deadlines.has(key)) return
    this.#before(task, Math.min(LAST_MS, task.ttlMs / 10), () => {
      this.#before(task, 0, () => {
        this.#deadlines.delete(key)
        this.#run(task, expire)
      })
      this.#run(task, stopWaiting)
    })
  }

  forget(task: TaskKey): void {
    const key = keyOf(task)
    const deadline = this.#deadlines.get(key)
    if (deadline) this.#options.deadlines.clear(deadline)
    this.#deadlines.delete(key)
  }

  stop(): void {
    this.#isStopped = true
    for (const deadline of this.#deadlines.values()) this.#options.deadlines.clear(deadline)
  }

  /** Acts so many milliseconds before the time of the task is over. */
  #before(task: TaskRecord, ms: number, act: () => void): void {
    const { deadlines, now } = this.#options
    this.#deadlines.set(keyOf(task), deadlines.set(Math.max(0, expiryOf(task) - ms - now()), act))
  }

  #run(task: TaskRecord, act: (task: TaskRecord) => Promise<void>): void {
    act(task).catch((error: unknown) => this.#options.report(task, error))
  }
}
