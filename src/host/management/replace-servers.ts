/** Replaces the configured servers of a host. */

import { isDeepStrictEqual } from 'node:util'
import type { ServerSpec } from '../model/server-spec.ts'
import type { HostServices } from '../setup/host-services.ts'

type FleetServices = Pick<HostServices, 'fleet' | 'catalog' | 'roots' | 'logins'>

/** A server with the same specification as before keeps its connection. Nothing remains of a server that is gone. */
export async function replaceServers({ fleet, catalog, roots, logins }: FleetServices, specs: readonly ServerSpec[]): Promise<void> {
  const before = fleet.ids()
  const revisions = new Map(fleet.all().map(({ id, spec }) => [id, spec.revisions]))
  const ended = fleet.configure(specs)
  for (const { id, revisions: chosen } of specs) {
    const server = fleet.find(id)
    if (server && revisions.has(id) && !isDeepStrictEqual(revisions.get(id), chosen)) server.hasNewRevisions = true
  }
  for (const id of before) {
    if (fleet.find(id)) continue
    logins.forget(id)
    roots.forget(id)
    catalog.remove(id)
  }
  await ended
}
