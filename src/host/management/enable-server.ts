/** Starts servers at the wish of the person, and waits until their offerings are in use. */

import type { McpError } from '../../protocol/errors.ts'
import { downError } from '../model/health.ts'
import type { HostServices } from '../setup/host-services.ts'

/** Options for `host.enable`. */
export interface EnableOptions {
  /** Withdraws the questions. */
  signal?: AbortSignal
  /** Ask about the first offering, so that the person can choose. Default: it is in use at once, except for items with warnings. */
  isChoosing?: boolean
}

export async function enableServer(
  { fleet, reviews, clock }: HostServices,
  id: string,
  { signal, isChoosing = false }: EnableOptions,
): Promise<void> {
  if (isChoosing) fleet.get(id).letChoose()
  const health = await fleet.get(id).retry()
  if (health.state !== 'ready') throw downError(id, health, clock.now(), 0)
  const server = fleet.get(id)
  if (!reviews.review(server)) return
  await reviews.ask(server, { signal }).catch((error: unknown) => {
    // A part that stays out of use does not make the rest unusable.
    if (server.stateOf('capabilities', 'capabilities') !== 'pinned') throw error
  })
}

/** How the enabling of one server ended. */
export interface EnableOutcome {
  server: string
  /** Why it is not enabled. Undefined: it is. */
  error?: McpError
}

/** @throws McpError ERR_SERVER_UNKNOWN before anything is asked */
export async function enableServers(
  services: HostServices,
  ids: readonly string[],
  signal: AbortSignal | undefined,
): Promise<EnableOutcome[]> {
  const servers = [...new Set(ids)]
  for (const id of servers) services.fleet.get(id)
  const ended = await services.groups.together(servers, (id) => enableServer(services, id, signal ? { signal } : {}))
  return servers.map((server, i) => {
    const outcome = ended[i]
    return { server, ...(outcome?.status === 'rejected' && { error: outcome.reason as McpError }) }
  })
}
