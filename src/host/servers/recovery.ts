/** Decides when to try a failed server again: with growing pauses, and with a long one after too many failures. */

import type { FixedSupervisionLimits } from './limits.ts'

type RecoveryLimits = Pick<
  FixedSupervisionLimits,
  'firstRetryMs' | 'maxRetryMs' | 'stableMs' | 'breakerFailures' | 'breakerWindowMs' | 'breakerOpenMs'
>

export interface Pause {
  state: 'waiting' | 'open-circuit'
  retryAt: number
}

export class Recovery {
  readonly #limits: RecoveryLimits
  /** The times of the failures within the window of the circuit breaker. */
  #failures: number[] = []
  #attempts = 0
  #readyAt: number | undefined
  #isTrial = false

  constructor(limits: RecoveryLimits) {
    this.#limits = limits
  }

  /** Whether the next attempt, or the connection that it led to, is the trial after a pause of the circuit breaker. */
  get isTrial(): boolean {
    return this.#isTrial
  }

  onReady(now: number): void {
    this.#readyAt = now
  }

  onFailure(now: number): Pause {
    const { stableMs, breakerFailures, breakerWindowMs, breakerOpenMs, firstRetryMs, maxRetryMs } = this.#limits
    // A connection that ends right away counts as a failed start.
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
    // Random, so that servers that failed together, for example while the machine slept, do not start together.
    return { state: 'waiting', retryAt: now + pauseMs * (0.5 + Math.random() / 2) }
  }

  forget(): void {
    this.#failures = []
    this.#attempts = 0
    this.#readyAt = undefined
    this.#isTrial = false
  }
}
