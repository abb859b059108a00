/**
 * The lease of a replica, measured by a clock that never goes back. The system time is not compared as well: whoever sets it would end all leases
 * of the machine.
 */

/** A lease is renewed after this part of it. */
const RENEW_AFTER = 0.3
/** A lease that could not be renewed is given up after this part of it, so that handlers stop before others take over. */
const GIVE_UP_AFTER = 0.85
const LOOKS = 20

export interface LeaseActions {
  /** False: the lease has ended. Rejects while the store cannot be reached. */
  renew(): Promise<boolean>
  onLost(reason: string): void
}

export class Lease {
  readonly #ms: number
  readonly #actions: LeaseActions
  readonly #timer: ReturnType<typeof setInterval>
  /** When the last renewal that succeeded was sent. Redis counts from a later moment. */
  #renewedAt: number
  #isRenewing = false
  #fault = ''

  constructor(ms: number, sentAt: number, actions: LeaseActions) {
    this.#ms = ms
    this.#actions = actions
    this.#renewedAt = sentAt
    this.#timer = setInterval(() => this.#look(), ms / LOOKS)
  }

  get isHeld(): boolean {
    return performance.now() < this.#renewedAt + this.#ms
  }

  /** From now on it is not held. */
  end(): void {
    clearInterval(this.#timer)
    this.#renewedAt = Number.NEGATIVE_INFINITY
  }

  #look(): void {
    const age = performance.now() - this.#renewedAt
    if (age >= this.#ms * GIVE_UP_AFTER) return this.#lose(`the lease could not be renewed for ${Math.round(age)} ms${this.#fault}`)
    if (age >= this.#ms * RENEW_AFTER && !this.#isRenewing) void this.#renew()
  }

  async #renew(): Promise<void> {
    this.#isRenewing = true
    const sentAt = performance.now()
    try {
      const isRenewed = await this.#actions.renew()
      if (this.#renewedAt === Number.NEGATIVE_INFINITY) return
      if (isRenewed) this.#renewedAt = sentAt
      else this.#lose('the lease has ended')
    } catch (error) {
      this.#fault = `: ${(error as Error).message}`
    } finally {
      this.#isRenewing = false
    }
  }

  #lose(reason: string): void {
    this.end()
    this.#actions.onLost(reason)
  }
}
