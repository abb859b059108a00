/** Finds the server and the name that a catalog name stands for, and starts the server if it is used for the first time. */

import { McpError } from '../../protocol/errors.ts'
import type { ReviewQueue } from '../approval/review-queue.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Fleet } from '../servers/fleet.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import type { ResourceTarget } from './read-resource.ts'

/** A tool or a prompt: its name in the catalog, or its server and the server's own name for it. */
export type CatalogName = string | { server: string; name: string }

export interface TargetServices {
  catalog: Catalog
  fleet: Fleet<HostedServer>
}

export interface NamedTarget {
  server: HostedServer
  /** The server's own name. */
  name: string
}

/** The services that start a server on first use. */
export interface StartServices extends TargetServices {
  reviews: ReviewQueue
}

/** Starts a server that is used for the first time, which may ask the person, and waits for their decision about its offering. */
export async function startForUse(
  { fleet, reviews }: StartServices,
  id: string | undefined,
  { signal }: { signal?: AbortSignal | undefined },
): Promise<void> {
  const server = id === undefined ? undefined : fleet.find(id)
  if (!server || (server.offering && server.health.state !== 'not-enabled')) return
  await server.ready(signal)
  await reviews.settledFor(server)
}

/** Like `findNamed`, after the server has started. */
export async function openNamed(
  services: StartServices,
  kind: 'tool' | 'prompt',
  given: CatalogName,
  options: { signal?: AbortSignal | undefined },
): Promise<NamedTarget> {
  await startForUse(services, typeof given === 'string' ? services.catalog.serverOfName(given) : given.server, options)
  return findNamed(services, kind, given)
}

/** Like `findResource`, after the server has started. */
export async function openResource(
  services: StartServices,
  exposed: string,
  options: { signal?: AbortSignal | undefined },
): Promise<ResourceTarget> {
  await startForUse(services, services.catalog.serverOfUri(exposed), options)
  return findResource(services, exposed)
}

/** The server's own name also finds tools and prompts in quarantine, so that the refusal says so. */
export function findNamed({ catalog, fleet }: TargetServices, kind: 'tool' | 'prompt', given: CatalogName): NamedTarget {
  if (typeof given !== 'string') return { server: fleet.get(given.server), name: given.name }
  const entry = catalog.find(kind, given)
  if (!entry) throw new McpError('ERR_SERVER_UNKNOWN', `No ${kind} is called ${JSON.stringify(given)}`)
  return { server: fleet.get(entry.server), name: entry.definition.name }
}

function findResource({ catalog, fleet }: TargetServices, exposed: string): ResourceTarget {
  const owner = catalog.ownerOfUri(exposed)
  if (owner.kind === 'one') {
    const { server, uri, entry } = owner
    return { server: fleet.get(server), uri, template: entry.kind === 'template' ? entry.definition.uriTemplate : undefined }
  }
  const why =
    owner.kind === 'none' ? 'no server offers it' : `several servers offer it: ${owner.servers.join(', ')}; name one as server+uri`
  throw new McpError('ERR_SERVER_UNKNOWN', `Cannot read ${JSON.stringify(exposed)}: ${why}`)
}
