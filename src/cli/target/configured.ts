/** Servers that are known by a name. */

import { McpError } from '../../protocol/errors.ts'
import type { Target } from '../../protocol/link.ts'
import type { Invocation } from '../frame.ts'
import type { TargetOptions } from './options.ts'

export async function configuredTarget(_invocation: Invocation, id: string, _options: TargetOptions): Promise<Target> {
  throw new McpError('ERR_SERVER_UNKNOWN', `No server is called ${JSON.stringify(id)}`)
}
