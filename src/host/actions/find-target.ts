/** Finds the server and the name that a catalog name stands for. */

import { McpError } from '../../protocol/errors.ts'
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

/** The server's own name also finds tools and prompts in quarantine, so that the refusal says so. */
export function findNamed({ catalog, fleet }: TargetServices, kind: 'tool' | 'prompt', given: CatalogName): NamedTarget {
  if (typeof given !== 'string') return { server: fleet.get(given.server), name: given.name }
  const entry = catalog.find(kind, given)
  if (!entry) throw new McpError('ERR_SERVER_UNKNOWN', `No ${kind} is called ${JSON.stringify(given)}`)
  return { server: fleet.get(entry.server), name: entry.definition.name }
}

export function findResource({ catalog, fleet }: TargetServices, exposed: string): ResourceTarget {
  const owner = catalog.ownerOfUri(exposed)
  if (owner.kind === 'one') {
    const { server, uri, entry } = owner
    return { server: fleet.get(server), uri, template: entry.kind === 'template' ? entry.definition.uriTemplate : undefined }
  }
  const why =
    owner.kind === 'none' ? 'no server offers it' : `several servers offer it: ${owner.servers.join(', ')}; name one as server+uri`
  throw new McpError('ERR_SERVER_UNKNOWN', `Cannot read ${JSON.stringify(exposed)}: ${why}`)
}
