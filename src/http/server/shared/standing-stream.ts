/** Writes messages that belong to no request to the standing stream of a shared session. */

import type { Outlet } from '../../../jsonrpc/outlet.ts'
import { STANDING_STREAM } from '../../../store/stream-logs.ts'
import type { ReplicaServices } from './replica-services.ts'

export function standingOutlet(sid: string, services: ReplicaServices): Outlet {
  return {
    push: (json) => appendStanding(sid, { json }, services).then(() => undefined, services.report),
    answer: () => {},
    drop: () => {},
  }
}

/** Returns false if there is no such session. */
export async function appendStanding(
  sid: string,
  event: { json: string; coalesce?: string },
  { store, bounds, nextBatch, tails }: ReplicaServices,
): Promise<boolean> {
  const appended = await store.streams.append(sid, STANDING_STREAM, { n: nextBatch(), events: [event] }, bounds)
  if (typeof appended === 'string') return false
  if (appended.reader === store.replica.id) tails.wake(sid, STANDING_STREAM)
  return true
}
