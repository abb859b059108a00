/** News of tasks from a store that other processes use, too. Each task is watched once, and read once after a change. */

import type { TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { TaskStore } from '../../protocol/interfaces/task-store.ts'
import { keyOf, type TaskKey } from './owner.ts'

/** @param stored the task, or undefined if the store does not have it any more. Rejects if it cannot be read */
export type NewsListener = (stored: Promise<TaskRecord | undefined>) => void

export interface WatchedTasks {
  readonly store: TaskStore
  read(key: TaskKey): Promise<TaskRecord | undefined>
}

export class TaskNews {
  readonly #tasks: WatchedTasks
  readonly #watched = new Map<string, { listeners: Set<NewsListener>; stop: (() => void) | undefined }>()

  constructor(tasks: WatchedTasks) {
    this.#tasks = tasks
  }

  /** Returns a function that stops it. */
  listen(key: TaskKey, listener: NewsListener): () => void {
    const name = keyOf(key)
    const watched = this.#watched.get(name) ?? this.#watch(key)
    this.#watched.set(name, watched)
    watched.listeners.add(listener)
    return () => {
      if (!watched.listeners.delete(listener) || watched.listeners.size > 0) return
      watched.stop?.()
      this.#watched.delete(name)
    }
  }

  #watch(key: TaskKey): { listeners: Set<NewsListener>; stop: (() => void) | undefined } {
    const listeners = new Set<NewsListener>()
    const tell = (): void => {
      if (listeners.size === 0) return
      const stored = this.#tasks.read(key)
      for (const listener of listeners) listener(stored)
    }
    return { listeners, stop: this.#tasks.store.watch?.(key.owner, key.taskId, tell) }
  }
}
