/** From how a server is reached, with everything filled in, to a client that is connected to it. */

import type { Client } from '../../client/client.ts'
import { type ConnectAnywhereOptions, connect } from '../../index.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ServerTransport } from '../model/server-spec.ts'

/** A way whose placeholders have been filled in. It holds secrets: it is used once and kept nowhere. */
export type PermittedTransport = ServerTransport

export async function connectServer(
  way: PermittedTransport,
  options: ConnectAnywhereOptions,
  onStderr: (line: string) => void,
): Promise<Client> {
  switch (way.type) {
    case 'stdio': {
      const { command, args, env, cwd } = way
      // Whether it is started again is decided above, each time anew.
      return connect({ command, args, env, ...(cwd !== undefined && { cwd }), restarts: false, onStderr }, options)
    }
    case 'http':
      // Its text is not repeated here: it may hold a secret.
      if (!URL.canParse(way.url)) throw new McpError('ERR_CONFIG', 'The URL of the server is none, once everything in it is filled in')
      return connect(new URL(way.url), { ...options, http: { ...options.http, headers: way.headers } })
    case 'memory':
      return connect(way.service, options)
  }
}
