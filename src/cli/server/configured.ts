/** Servers that are known by a name, where only a URL or a command will do. */

import { commandText, type ServerSpec } from '../../host/index.ts'
import type { Invocation } from '../command-runner.ts'
import { UsageError, unknownName } from '../errors.ts'

/** Always throws: what is not asked through the host is not started by its name, only by what stands behind it. */
export async function refuseByName(invocation: Invocation, id: string): Promise<never> {
  const { configuredServers } = await import('./open-host.ts')
  const servers = await configuredServers(invocation)
  const spec = servers.find((each) => each.id === id)
  if (!spec)
    throw unknownName(
      'server',
      id,
      servers.map((each) => each.id),
    )
  throw new UsageError(
    `This goes around the host, so it takes no name of a server`,
    `Give what stands behind it: ${describeTransport(spec)}`,
  )
}

export function describeTransport({ transport }: Pick<ServerSpec, 'transport'>): string {
  if (transport.type === 'http') return transport.url
  return transport.type === 'stdio' ? `-- ${commandText(transport.command, transport.args)}` : 'a server of this process'
}
