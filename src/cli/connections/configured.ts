/** Configured servers as text for people. */

import { commandText } from '../../base/text/command-text.ts'
import type { ServerSpec } from '../../host/index.ts'

/** The command as a person would type it, or the address. */
export function describeTransport({ transport }: Pick<ServerSpec, 'transport'>): string {
  if (transport.type === 'http') return transport.url
  return transport.type === 'stdio' ? commandText(transport.command, transport.args) : 'in this process'
}
