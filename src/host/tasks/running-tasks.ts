/** The tasks that this host follows, by the ids that their servers gave them. */

import type { AskingTask } from '../servers/server-services.ts'

export class RunningTasks {
  readonly #tasks = new Map<string, AskingTask>()

  find(server: string, taskId: string): AskingTask | undefined {
    return this.#tasks.get(keyOf(server, taskId))
  }

  /** Returns the function that removes it. */
  add(server: string, taskId: string, task: AskingTask): () => void {
    const key = keyOf(server, taskId)
    this.#tasks.set(key, task)
    // A server may give two tasks the same id.
    return () => this.#tasks.get(key) === task && this.#tasks.delete(key)
  }
}

const keyOf = (server: string, taskId: string): string => JSON.stringify([server, taskId])
