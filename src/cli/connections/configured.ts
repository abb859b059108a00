/** Configured servers where a command needs a URL or a command line. */

import { commandText, type ServerSpec } from '../../host/index.ts'
import type { Invocation } from '../command-runner.ts'
import { UsageError, unknownName } from '../errors.ts'

/** Always throws: commands that bypass the host do not start configured servers, which would bypass their policy. */
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
    `This command connects directly, without the host, so it does not take the name of a configured server`,
    `Use its address or command: ${describeTransport(spec)}`,
  )
}

export function describeTransport({ transport }: Pick<ServerSpec, 'transport'>): string {
  if (transport.type === 'http') return transport.url
  return transport.type === 'stdio' ? `-- ${commandText(transport.command, transport.args)}` : 'in this process'
}
