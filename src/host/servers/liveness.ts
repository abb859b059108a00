/** Pings a connected server at intervals, and after suspicious errors. */

import type { Clock, Timer } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { McpError } from '../../protocol/errors.ts'
import type { AllSupervisionLimits } from './limits.ts'

/** Unanswered pings in a row after which the host reconnects. One may be late on a busy machine. */
const MAX_MISSED_PINGS = 2

export interface LivenessOptions {
  client: Client
  limits: Pick<AllSupervisionLimits, 'pingIntervalMs' | 'pingTimeoutMs'>
  clock: Clock
  /** A server may do one thing at a time, so it is not pinged during a call. The call has its own timeout. */
  isBusy(): boolean
  /** The number of unanswered pings in a row changed. */
  onMissed(count: number): void
  onDead(error: Error): void
}

export class Liveness {
  readonly #options: LivenessOptions
  #missed = 0
  #timer: Timer | undefined
  #checking: Promise<void> | undefined
  #isStopped = false

  constructor(options: LivenessOptions) {
    this.#options = options
    this.#checkLater()
  }

  /** Pings now. */
  check(): Promise<void> {
    if (this.#isStopped) return Promise.resolve()
    this.#checking ??= this.#ping().finally(() => {
      this.#checking = undefined
      this.#checkLater()
    })
    return this.#checking
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  #checkLater(): void {
    const { clock, isBusy } = this.#options
    const { pingIntervalMs } = this.#options.limits
    if (pingIntervalMs <= 0 || this.#isStopped) return
    this.#timer?.cancel()
    this.#timer = clock.after(pingIntervalMs, () => {
      if (isBusy()) this.#checkLater()
      else void this.check()
    })
  }

  async #ping(): Promise<void> {
    const { client, limits, onDead } = this.#options
    try {
      await client.ping({ timeoutMs: limits.pingTimeoutMs })
    } catch (error) {
      if (this.#isStopped) return
      const isSilent = error instanceof McpError && error.code === 'ERR_TIMEOUT'
      if (isSilent && this.#missed + 1 < MAX_MISSED_PINGS) return this.#setMissed(this.#missed + 1)
      // An error from the server proves that it is alive.
      if (!(error instanceof RemoteError)) return onDead(error as Error)
    }
    this.#setMissed(0)
  }

  #setMissed(count: number): void {
    if (count === this.#missed || this.#isStopped) return
    this.#missed = count
    this.#options.onMissed(count)
  }
}
