/** The handlers of tasks that run. Those whose tasks have expired count as tasks, so that their places are not taken twice. */

import { expiryOf } from '../../protocol/interfaces/task-record.ts'
import type { TaskRun } from './task-run.ts'

export class RunningHandlers {
  readonly #runs = new Set<TaskRun>()

  /** @param value what the handler returned; it runs until this settles. Returns what to wait for instead: `then` is called once. */
  add(run: TaskRun, value: unknown): unknown {
    if (typeof value !== 'object' || value === null || !('then' in value)) return value
    const promise = Promise.resolve(value)
    const end = (): boolean => this.#runs.delete(run)
    this.#runs.add(run)
    promise.then(end, end)
    return promise
  }

  /** The accounts of handlers that run on although their tasks have expired. */
  leftOver(now: number): string[] {
    return [...this.#runs].flatMap(({ task }) => (task && expiryOf(task) <= now ? [task.account] : []))
  }
}
