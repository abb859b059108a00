/** `portico servers enable`: asks about servers, several on one screen, and starts them. */

import type { Invocation } from '../command-runner.ts'
import { enableServers, notEnabled, tellEnabled } from '../connections/enable-servers.ts'
import { withHost } from '../connections/open-host.ts'
import type { ExitName } from '../exit-codes.ts'
import { safe } from '../output/safe-text.ts'

/** Without names: all servers that are not enabled yet. */
export function enableAction(invocation: Invocation, names: readonly string[], { inbox }: { inbox?: true }): Promise<ExitName> {
  const only = names.length > 0 ? { only: [...new Set(names)] } : {}
  return withHost(invocation, { ...only, parks: inbox === true }, async (host) => {
    const open = notEnabled(host)
    const wanted = only.only ?? open
    if (wanted.length === 0) {
      invocation.screen.note(safe`All configured servers are enabled.`)
      return 'ok'
    }
    if (!only.only) await enableServers(invocation, host, open)
    return tellEnabled(invocation, host, wanted)
  })
}
