/** Connects a client to a server whose placeholders are resolved. */

import type { Client } from '../../client/client.ts'
import { type ConnectAnywhereOptions, connect } from '../../index.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ServerTransport } from '../model/server-spec.ts'

/** A transport whose placeholders are resolved. It contains secrets: use it once and do not store it. */
export type PermittedTransport = ServerTransport

export async function connectServer(
  transport: PermittedTransport,
  options: ConnectAnywhereOptions,
  onStderr: (line: string) => void,
): Promise<Client> {
  switch (transport.type) {
    case 'stdio': {
      const { command, args, env, cwd } = transport
      // The supervisor decides about each restart.
      return connect({ command, args, env, ...(cwd !== undefined && { cwd }), restarts: false, onStderr }, options)
    }
    case 'http':
      // The error does not quote the URL: it may contain a secret.
      if (!URL.canParse(transport.url))
        throw new McpError('ERR_CONFIG', 'Expected a URL for the server; with all placeholders resolved it is not a valid URL')
      return connect(new URL(transport.url), { ...options, http: { ...options.http, headers: transport.headers } })
    case 'memory':
      return connect(transport.service, options)
  }
}
