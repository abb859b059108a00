/** Whether a server that is connected still answers: asked now and then, and when there is a reason to doubt it. */

import type { Clock, Timer } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { McpError } from '../../protocol/errors.ts'
import type { SupervisionLimits } from './limits.ts'

export interface LivenessOptions {
  client: Client
  limits: Pick<SupervisionLimits, 'pingIntervalMs' | 'pingTimeoutMs' | 'maxMissedPings'>
  clock: Clock
  /** One that works on a call may be unable to do two things at a time, and the call has a timeout of its own. */
  isBusy(): boolean
  /** How many in a row it has not answered: told when it changes. */
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

  /** Asks now. */
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
      if (isSilent && this.#missed + 1 < limits.maxMissedPings) return this.#setMissed(this.#missed + 1)
      // An error that the server sent is a sign of life.
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
