/** Starts a server at the wish of the person, and waits until its offering is in use. */

import { downError } from '../model/health.ts'
import type { HostServices } from '../setup/host-services.ts'

export async function enableServer({ fleet, reviews, clock }: HostServices, id: string, signal: AbortSignal | undefined): Promise<void> {
  const health = await fleet.get(id).retry()
  if (health.state !== 'ready') throw downError(id, health, clock.now(), 0)
  const server = fleet.get(id)
  if (!reviews.review(server)) return
  await reviews.ask(server, signal).catch((error: unknown) => {
    // A part that stays out of use does not make the rest unusable.
    if (server.stateOf('capabilities', 'capabilities') !== 'pinned') throw error
  })
}
