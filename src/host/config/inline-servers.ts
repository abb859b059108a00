/** Turns the short forms of a server in `HostOptions.servers` into server specifications. */

import { McpError } from '../../protocol/errors.ts'
import { isService, type Service } from '../../protocol/interfaces/service.ts'
import type { ProcessTargetOptions } from '../../stdio/connect.ts'
import type { ConfigProvenance, ServerSpec, ServerTransport } from '../model/server-spec.ts'

/** A URL, a command, a server in this process, or a whole server specification. */
export type GivenServer = string | URL | Pick<ProcessTargetOptions, 'command' | 'args' | 'env' | 'cwd'> | Service | Omit<ServerSpec, 'id'>

const OURS: ConfigProvenance = { client: 'this program', scope: 'ours', file: '' }

export const inlineServers = (servers: Readonly<Record<string, GivenServer>>): ServerSpec[] =>
  Object.entries(servers).map(([id, given]) => readServer(id, given))

function readServer(id: string, given: GivenServer): ServerSpec {
  if (typeof given === 'object' && 'transport' in given) return { ...given, id }
  const transport = readTransport(id, given)
  // A server in this process is the developer's own code.
  return { id, transport, tier: transport.type === 'memory' ? 'trusted' : 'untrusted', provenance: [OURS] }
}

function readTransport(id: string, given: Exclude<GivenServer, Omit<ServerSpec, 'id'>>): ServerTransport {
  if (given instanceof URL || (typeof given === 'string' && URL.canParse(given))) return { type: 'http', url: String(given), headers: {} }
  if (typeof given === 'object' && isService(given)) return { type: 'memory', service: given }
  if (typeof given === 'object' && 'command' in given) {
    const { command, args = [], env = {}, cwd } = given
    return { type: 'stdio', command, args, env, cwd }
  }
  throw new McpError(
    'ERR_CONFIG',
    `Invalid server ${JSON.stringify(id)}: expected a URL, { command, args }, a server made by createServer, or { transport, tier }`,
  )
}
