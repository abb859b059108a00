/** portico: connect to any server. The transport is found from what is given, and loaded only then. */

import { Client } from './client/client.ts'
import { memoryTarget } from './client/memory-link.ts'
import type { ConnectOptions } from './client/options.ts'
import { McpError } from './protocol/errors.ts'
import type { Target } from './protocol/link.ts'
import { isService, type Service } from './protocol/service.ts'
import type { ProcessTargetOptions } from './stdio/connect.ts'

export * from './client/index.ts'
export type { ProcessTargetOptions } from './stdio/connect.ts'

/** A server in this process, a command to start one, or a target that a transport made. */
export type Reachable = Service | ProcessTargetOptions | Target

/** Connects, finds out which protocol revision the server speaks, and speaks it. */
export async function connect(to: Reachable, options: ConnectOptions = {}): Promise<Client> {
  return Client.connect(await targetOf(to, options), options)
}

async function targetOf(to: Reachable, options: ConnectOptions): Promise<Target> {
  if (typeof to === 'object' && to !== null) {
    if ('key' in to && typeof to.open === 'function') return to as Target
    if (isService(to)) return memoryTarget(to)
    if ('command' in to) {
      const { processTarget } = await import('./stdio/connect.ts')
      return processTarget(options.onWarning === undefined ? to : { onWarning: options.onWarning, ...to })
    }
  }
  throw new McpError(
    'ERR_UNSUPPORTED',
    `Cannot connect to ${describe(to)}; give { command, args }, a server made by createServer, or a target`,
  )
}

const describe = (to: unknown): string => (typeof to === 'object' ? 'this object' : JSON.stringify(to))
