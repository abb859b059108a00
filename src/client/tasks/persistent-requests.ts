/** Repeats requests about a task while its server cannot be reached. */

import { asText } from '../../base/as-text.ts'
import { mayPass } from '../dialect/dialect.ts'

/** Failures of the network in a row, and how long to wait after them. */
export const MAX_FAILURES = 5
const MAX_PAUSE_MS = 30_000

export interface PersistenceOptions {
  /** The id of the task, for warnings. */
  task: string
  pollIntervalMs(): number
  /** Whether the client has stopped following the task. */
  isOver(): boolean
  /** Waits, or less if there is something to do. */
  pause(ms: number): Promise<void>
  onWarning(text: string): void
}

export class PersistentRequests {
  readonly #options: PersistenceOptions
  /** Whether the person was warned that the server cannot be reached. */
  #isWarned = false

  constructor(options: PersistenceOptions) {
    this.#options = options
  }

  /** Repeats a request after failures of the network. Warns after the first one, and when the server answers again. */
  async send<T>(request: () => Promise<T>): Promise<T> {
    const { task, isOver, pollIntervalMs, pause, onWarning } = this.#options
    for (let failures = 1; ; failures++) {
      try {
        const answer = await request()
        if (this.#isWarned) onWarning(`The server can be reached again: the task ${task} is followed`)
        this.#isWarned = false
        return answer
      } catch (error) {
        if (isOver() || failures > MAX_FAILURES || !mayPass(error)) throw error
        const pauseMs = Math.min(MAX_PAUSE_MS, pollIntervalMs() * 2 ** failures)
        if (!this.#isWarned)
          onWarning(`The server cannot be asked for the task ${task}: ${asText(error)}. The client tries again in ${pauseMs / 1000} s`)
        this.#isWarned = true
        await pause(pauseMs)
      }
    }
  }
}
