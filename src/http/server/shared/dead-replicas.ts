/** Ends the requests of replicas that died, so that their clients do not wait for ever. */

import type { ReplicaServices } from './replica-services.ts'
import { lostAnswer, type OpenCall } from './shared-call.ts'

export class DeadReplicas {
  readonly #services: ReplicaServices
  #isLooking = false

  constructor(services: ReplicaServices) {
    this.#services = services
  }

  async look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const { replica } = this.#services.store
      for (let dead = await replica.claimDead(); dead; dead = await replica.claimDead()) {
        for (const { sid, stream } of dead.streams) await this.#end(sid, stream, dead.replica)
      }
    } finally {
      this.#isLooking = false
    }
  }

  async #end(sid: string, stream: string, from: string): Promise<void> {
    const { store, bounds, nextBatch, tails } = this.#services
    const taken = await store.streams.takeOver(sid, stream, from)
    if (!taken) return
    const events = taken.call === '' ? [] : [{ json: lostAnswer(JSON.parse(taken.call) as OpenCall) }]
    await store.streams.append(sid, stream, { n: nextBatch(), epoch: taken.epoch, events, isLast: true }, bounds)
    tails.wake(sid, stream)
  }
}
