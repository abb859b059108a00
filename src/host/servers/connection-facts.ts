/** What the revision of a connection decides about pings and log levels. */

import type { Client } from '../../client/client.ts'
import type { LogLevel } from '../../protocol/model/logging.ts'
import { revisionOf } from '../../revisions/index.ts'
import type { ServerConnection } from '../model/traffic.ts'

/** @param level the level that the host wants */
export function connectionFacts(
  { server, revision: version }: Pick<Client, 'server' | 'revision'>,
  level: LogLevel,
): Pick<ServerConnection, 'pingMethod' | 'logging'> {
  const revision = revisionOf(version)
  const method = 'logging/setLevel'
  return {
    pingMethod: revision?.has('ping') ? 'ping' : 'server/discover',
    ...(server.capabilities.logging && { logging: { level, ...(revision?.has(method) && { method }) } }),
  }
}
