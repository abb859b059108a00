/** When to try a server again that failed: later each time, and for a while not at all when it fails too often. */

import type { SupervisionLimits } from './limits.ts'

type RecoveryLimits = Pick<
  SupervisionLimits,
  'firstRetryMs' | 'maxRetryMs' | 'stableMs' | 'breakerFailures' | 'breakerWindowMs' | 'breakerOpenMs'
>

export interface Pause {
  state: 'waiting' | 'open-circuit'
  retryAt: number
}

export class Recovery {
  readonly #limits: RecoveryLimits
  /** When it failed, within the window of the breaker. */
  #failures: number[] = []
  #attempts = 0
  #readyAt: number | undefined
  #isTrial = false

  constructor(limits: RecoveryLimits) {
    this.#limits = limits
  }

  /** The next attempt, or the connection it led to, is the one that is allowed after a pause of the breaker. */
  get isTrial(): boolean {
    return this.#isTrial
  }

  onReady(now: number): void {
    this.#readyAt = now
  }

  onFailure(now: number): Pause {
    const { stableMs, breakerFailures, breakerWindowMs, breakerOpenMs, firstRetryMs, maxRetryMs } = this.#limits
    // That it could be connected to is no proof: one that dies right after it is as bad as one that does not start.
    if (this.#readyAt !== undefined && now - this.#readyAt >= stableMs) this.forget()
    this.#readyAt = undefined
    this.#failures = [...this.#failures.filter((at) => now - at < breakerWindowMs), now]
    if (this.#isTrial || this.#failures.length >= breakerFailures) {
      this.#isTrial = true
      this.#failures = []
      return { state: 'open-circuit', retryAt: now + breakerOpenMs }
    }
    const pauseMs = Math.min(maxRetryMs, firstRetryMs * 2 ** this.#attempts)
    this.#attempts = Math.min(this.#attempts + 1, 30)
    // Servers that failed together, because the machine slept, do not all come back at the same moment.
    return { state: 'waiting', retryAt: now + pauseMs * (0.5 + Math.random() / 2) }
  }

  forget(): void {
    this.#failures = []
    this.#attempts = 0
    this.#readyAt = undefined
    this.#isTrial = false
  }
}
