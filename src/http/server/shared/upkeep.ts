/** What a replica does without being asked: joins the others, looks for those that ended, and for what messages failed to say. */

import { randomFraction } from '../../../base/bytes.ts'
import type { Timer } from '../../../base/clock.ts'
import { notices } from '../../../base/notices.ts'
import { leaveReplica } from '../../../store/leave-replica.ts'
import type { DeadReplicas } from './dead-replicas.ts'
import type { FaultReports } from './fault-reports.ts'
import { producerOf } from './producer.ts'
import type { ReplicaServices } from './replica-services.ts'
import type { RunningCalls } from './running-calls.ts'
import type { SessionEntries } from './session-entries.ts'

/**
 * When clients come back after the lease of their replica was lost, in leases. The official SDKs try twice and then give up for ever, so
 * this is how long the store may be away.
 */
const LOST_RETRY_LEASES = 2
/** How often to look for replicas that have ended, at least. */
const LOOK_MS = 1000

interface UpkeepOptions {
  services: ReplicaServices
  entries: SessionEntries
  calls: RunningCalls
  dead: DeadReplicas
  faults: FaultReports
}

export class Upkeep {
  readonly #options: UpkeepOptions
  readonly #services: ReplicaServices
  #timer: Timer | undefined
  #isOver = false
  /** The name under which this replica has joined last. */
  #joinedAs: string | undefined
  #lookedAgainAt = 0
  #lookingAgain: Promise<void> | undefined

  constructor(options: UpkeepOptions) {
    this.#options = options
    this.#services = options.services
  }

  /** Whether the store has ever accepted this replica. */
  get hasJoined(): boolean {
    return this.#joinedAs !== undefined
  }

  begin(): void {
    this.#join()
    this.#tend()
  }

  end(): void {
    this.#isOver = true
    this.#timer?.cancel()
  }

  /** Lets the other replicas take over now, and not only when the lease ends. */
  async leave(): Promise<void> {
    const { store, messages } = this.#services
    try {
      await leaveReplica(store.replica)
      await messages.broadcast({ kind: 'left' })
    } catch {
      // A store that cannot be reached: others take over when the lease ends.
    }
  }

  /** Others may continue what this replica ran, so it must not write any more. */
  onLost(reason: string): void {
    const { tails, store } = this.#services
    notices.write('warn', `portico: this replica lost its lease: ${reason}. Others may go on with what it ran`)
    // No event: others may write those from now on.
    tails.breakOffAll(Math.ceil(LOST_RETRY_LEASES * store.replica.leaseMs))
    this.#options.calls.fenceAll(`This replica lost its lease: ${reason}`)
    this.#join()
  }

  /** Looks for replicas that have ended. */
  lookForDead(): void {
    this.#options.dead.look().catch(this.#services.report)
  }

  /** Looks into the store for what messages may have failed to say. */
  lookAgain(): void {
    this.#lookedAgainAt = this.#services.clock.now()
    this.#lookingAgain ??= this.#lookOnce()
      .catch(this.#services.report)
      .finally(() => {
        this.#lookingAgain = undefined
      })
  }

  #join(): void {
    if (!this.#isOver) this.#joinAndCheck().catch(this.#services.report)
  }

  async #joinAndCheck(): Promise<void> {
    const { store, report } = this.#services
    await store.replica.join()
    this.#noteName()
    const fault = await this.#options.entries.ids.faultInStore()
    if (fault !== undefined) report(fault)
  }

  /** The other replicas name this one in their logs when they take over what it left. It has another name after it lost its lease. */
  #noteName(): void {
    const { store, service } = this.#services
    const { id, isHeld } = store.replica
    if (!isHeld || id === this.#joinedAs) return
    // Clients may have listened before the other replicas knew this one. The store tells when it has joined again.
    if (this.#joinedAs === undefined) service.onMissedChanges?.()
    this.#joinedAs = id
    // A store that holds no values outside of this machine has replicas of one process, or workers of one: they have one log.
    if (store.useKeys) notices.write('info', `portico: this replica is ${id}`)
  }

  #tend(): void {
    const { clock, store } = this.#services
    const { leaseMs } = store.replica
    // Replicas do not look at the same moment.
    this.#timer = clock.after(Math.min(LOOK_MS, leaseMs / 4) * (0.8 + 0.4 * randomFraction()), () => {
      // A request may have joined since.
      this.#noteName()
      if (clock.now() - this.#lookedAgainAt >= leaseMs / 4) this.lookAgain()
      // Not awaited: a long takeover must not delay what clients of this replica wait for.
      this.lookForDead()
      if (!this.#isOver) this.#tend()
    })
  }

  async #lookOnce(): Promise<void> {
    const { tails, clock, store, report } = this.#services
    const { calls, entries, faults } = this.#options
    tails.wakeAll()
    // Not awaited: there may be thousands, and no client waits for them.
    for (const each of producerOf(store).lateEnds) void each.tryAll()
    // First what clients wait for: a replica with other keys cannot renew the secret of ids.
    const hasHeard = await calls.lookAgain()
    const hasAnswered = await entries.ids.renew(clock.now()).catch((error: unknown) => {
      report(error)
      return false
    })
    // Not awaited, as above.
    void entries.keep(new Set([...tails.sids(), ...calls.sids()]))
    // A store may refuse other commands, for example because its memory is full.
    if (hasHeard && hasAnswered && entries.isKept && store.health() === undefined) faults.reset()
  }
}
