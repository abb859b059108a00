/** Continues the requests of replicas that have ended, or answers them with an error, so that no client waits for ever. */

import { lostAnswer, type OpenCall } from './open-call.ts'
import type { ReplicaServices } from './replica-services.ts'
import type { RunningCalls } from './running-calls.ts'
import { untilHeard } from './until-heard.ts'

export class DeadReplicas {
  readonly #services: ReplicaServices
  readonly #calls: RunningCalls
  #isLooking = false
  #isAskedAgain = false
  #isStopped = false

  constructor(services: ReplicaServices, calls: RunningCalls) {
    this.#services = services
    this.#calls = calls
  }

  /** This replica ends, so it takes over nothing more. */
  stop(): void {
    this.#isStopped = true
  }

  async look(): Promise<void> {
    this.#isAskedAgain = this.#isLooking
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      do {
        this.#isAskedAgain = false
        await this.#lookOnce()
      } while (this.#isAskedAgain)
    } finally {
      this.#isLooking = false
    }
  }

  async #lookOnce(): Promise<void> {
    const { replica } = this.#services.store
    while (!this.#isStopped) {
      const dead = await replica.claimDead()
      if (!dead) return
      await Promise.all(dead.streams.map(({ sid, stream }) => this.#continue(sid, stream, dead.replica)))
    }
  }

  async #continue(sid: string, stream: string, from: string): Promise<void> {
    const { store, bounds, nextBatch, tails } = this.#services
    const taken = await store.streams.takeOver(sid, stream, from)
    if (!taken) return
    // From here on this replica runs the request. If it gave up, the client would wait for ever.
    const call = taken.call === '' ? undefined : (JSON.parse(taken.call) as OpenCall)
    const failure = call ? await untilHeard(this.#services, () => this.#calls.restart(sid, stream, taken, call)) : 'lost'
    if (failure === undefined) return
    const events = call && failure !== 'cancelled' ? [{ json: lostAnswer(call, failure === 'had all runs') }] : []
    const batch = { n: nextBatch(), epoch: taken.epoch, events, isLast: true }
    await untilHeard(this.#services, () => store.streams.append(sid, stream, batch, bounds))
    tails.wake(sid, stream)
  }
}
