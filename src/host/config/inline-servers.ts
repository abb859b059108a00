/** Turns the entries of the option `servers` into server specs. */

import { McpError } from '../../protocol/errors.ts'
import { isService } from '../../protocol/seams/service.ts'
import type { Provenance, ServerSpec, ServerTransport } from '../model/server-spec.ts'
import type { GivenServer, HostOptions } from '../options.ts'

const OURS: Provenance = { client: 'this program', scope: 'ours', file: '' }

export const inlineServers = (servers: NonNullable<HostOptions['servers']>): ServerSpec[] =>
  Object.entries(servers).map(([id, given]) => readServer(id, given))

function readServer(id: string, given: GivenServer): ServerSpec {
  if (typeof given === 'object' && 'transport' in given) return { ...given, id }
  return { id, transport: readTransport(id, given), tier: 'untrusted', provenance: [OURS] }
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
