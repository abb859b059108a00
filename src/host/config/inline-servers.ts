/** From the short ways to name a server to all that a host wants to know about one. */

import { McpError } from '../../protocol/errors.ts'
import { isService } from '../../protocol/seams/service.ts'
import type { GivenServer, HostOptions } from '../options.ts'
import type { Provenance, ServerSpec, Way } from '../model/server-spec.ts'

const OURS: Provenance = { client: 'this program', scope: 'ours', file: '' }

export const givenServers = (servers: NonNullable<HostOptions['servers']>): ServerSpec[] =>
  Object.entries(servers).map(([id, given]) => specOf(id, given))

function specOf(id: string, given: GivenServer): ServerSpec {
  if (typeof given === 'object' && 'way' in given) return { ...given, id }
  return { id, way: wayOf(id, given), tier: 'untrusted', provenance: [OURS] }
}

function wayOf(id: string, given: Exclude<GivenServer, Omit<ServerSpec, 'id'>>): Way {
  if (given instanceof URL || (typeof given === 'string' && URL.canParse(given)))
    return { transport: 'http', url: String(given), headers: {} }
  if (typeof given === 'object' && isService(given)) return { transport: 'memory', service: given }
  if (typeof given === 'object' && 'command' in given) {
    const { command, args = [], env = {}, cwd } = given
    return { transport: 'stdio', command, args, env, ...(cwd !== undefined && { cwd }) }
  }
  throw new McpError(
    'ERR_CONFIG',
    `The server ${JSON.stringify(id)} is none: expected a URL, { command, args }, a server made by createServer, or { way, tier }`,
  )
}
