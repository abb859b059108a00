/** portico: connect to any server. Transports are loaded when they are used. */

import { Client } from './client/client.ts'
import { memoryTarget } from './client/memory-link.ts'
import { CONNECT_MEMBERS, type ConnectOptions } from './client/options.ts'
import type { HttpTargetOptions } from './http/client/options.ts'
import { checkMembers } from './protocol/check-members.ts'
import { McpError } from './protocol/errors.ts'
import type { Authorizer } from './protocol/interfaces/authorizer.ts'
import type { Target } from './protocol/interfaces/link.ts'
import { isService, type Service } from './protocol/interfaces/service.ts'
import type { ProcessTargetOptions } from './stdio/connect.ts'

export * from './client/index.ts'
export type { HttpTargetOptions } from './http/client/options.ts'
export type { ProcessTargetOptions } from './stdio/connect.ts'

/** Where to connect: a URL, a command to start, a server in this process, or a target of a transport. */
export type Reachable = string | URL | ProcessTargetOptions | Service | Target

/** Options for `connect`. */
export interface ConnectAnywhereOptions extends ConnectOptions {
  /** Logs in when a server with a URL requires it. `oauth()` of portico/auth creates one. */
  auth?: Authorizer
  /** Options for a server with a URL. */
  http?: HttpTargetOptions
}

/**
 * Connects to a server. Finds out which transport and protocol revision the server uses.
 *
 * @example
 * const remote = await connect('https://example.com/mcp')
 * const local = await connect({ command: 'npx', args: ['-y', 'some-server'] })
 * const inProcess = await connect(createServer({ name: 'demo', version: '1.0.0' }))
 */
export async function connect(to: Reachable, options: ConnectAnywhereOptions = {}): Promise<Client> {
  checkMembers('connect', options, { ...CONNECT_MEMBERS, auth: 1, http: 1 })
  const { auth: _auth, http: _http, ...own } = options
  const target = await targetOf(to, options)
  const used = target.mirrorsHeaders ? (options.http?.authorize ?? options.auth)?.extensions : undefined
  return Client.connect(target, used ? { ...own, extensions: { ...used, ...own.extensions } } : own)
}

async function targetOf(to: Reachable, options: ConnectAnywhereOptions): Promise<Target> {
  if (to instanceof URL || (typeof to === 'string' && URL.canParse(to))) {
    const { httpTarget } = await import('./http/client/target.ts')
    const { onWarning, auth, http } = options
    return httpTarget(to, { ...(onWarning && { onWarning }), ...(auth && { authorize: auth }), ...http })
  }
  if (typeof to === 'object' && to !== null) {
    if ('key' in to && typeof to.open === 'function') return to as Target
    if (isService(to)) return memoryTarget(to)
    if ('command' in to) {
      const { processTarget } = await import('./stdio/index.ts')
      return processTarget(options.onWarning === undefined ? to : { onWarning: options.onWarning, ...to })
    }
  }
  throw new McpError(
    'ERR_UNSUPPORTED',
    `Cannot connect to ${describe(to)}; expected a URL, { command, args }, a server of createServer, or a target`,
  )
}

const describe = (to: unknown): string => (typeof to === 'object' ? 'this object' : JSON.stringify(to))
