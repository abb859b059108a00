/** How long announcements are sent again. */

import type { ReplicaServices } from './replica-services.ts'
import { resend } from './until-heard.ts'

/** At least this long, and for the length of a lease. */
const MIN_MS = 10_000

/**
 * An announcement survives the loss of the lease: any replica may add it, and the store knows this process by the name of its producer. So
 * it waits for a store that is away as long as that takes. A store that renews the lease and still refuses the command is not away: its
 * memory is full, or one node of a cluster is missing. Then the others must not wait for ever.
 */
export class Patience {
  readonly #services: Pick<ReplicaServices, 'store' | 'clock'>
  readonly #isOver: () => boolean
  /** Since when the store has refused commands while this replica held its lease under this name. */
  #refused: { since: number; id: string } | undefined
  #hasFailed = false
  #failedAt = Number.NEGATIVE_INFINITY
  /** Commands that were sent again. */
  resent = 0

  /** @param isOver true: this replica ends, so nothing is sent again */
  constructor(services: Pick<ReplicaServices, 'store' | 'clock'>, isOver: () => boolean) {
    this.#services = services
    this.#isOver = isOver
  }

  /** Another announcement begins. If the one before met no failure, the store refuses nothing. */
  begin(): void {
    if (!this.#hasFailed) this.#refused = undefined
    this.#hasFailed = false
  }

  untilHeard<T>(command: () => Promise<T>): Promise<T> {
    return resend(this.#services.clock, command, () => {
      this.#hasFailed = true
      if (this.#isOver() || this.#isExhausted()) return true
      this.resent++
      return false
    })
  }

  #isExhausted(): boolean {
    const { replica } = this.#services.store
    const now = this.#services.clock.now()
    const patienceMs = Math.max(replica.leaseMs, MIN_MS)
    // A store that refuses is asked again at least once a second. After a longer pause it had recovered.
    const hadRecovered = now - this.#failedAt > patienceMs / 2
    this.#failedAt = now
    if (!replica.isHeld || replica.id !== this.#refused?.id || hadRecovered) this.#refused = { since: now, id: replica.id }
    return now - this.#refused.since > patienceMs
  }
}
