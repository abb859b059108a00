/** Connects a client to a server whose placeholders are resolved. */

import type { Client } from '../../client/client.ts'
import { memoryTarget } from '../../client/memory-link.ts'
import { type ConnectAnywhereOptions, connect } from '../../index.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Target } from '../../protocol/interfaces/link.ts'
import type { ServerSpec, ServerTransport } from '../model/server-spec.ts'
import type { TrafficTap } from './traffic.ts'

/** A transport whose placeholders are resolved. It contains secrets: use it once and do not store it. */
export type PermittedTransport = ServerTransport

export interface ConnectionObserver {
  onStderr(line: string): void
  /** The process of the server was started. */
  onProcess(pid: number): void
  /** Reports every message. Undefined: no one looks. */
  traffic?: TrafficTap | undefined
  /** Undefined: the client finds out. */
  httpTransport?: ServerSpec['httpTransport']
}

export async function connectServer(
  transport: PermittedTransport,
  options: ConnectAnywhereOptions,
  observer: ConnectionObserver,
): Promise<Client> {
  const target = await targetOf(transport, options, observer)
  return connect(observer.traffic?.tap(target) ?? target, options)
}

async function targetOf(
  transport: PermittedTransport,
  { onWarning, auth }: ConnectAnywhereOptions,
  { onStderr, onProcess, traffic, httpTransport }: ConnectionObserver,
): Promise<Target> {
  const warning = onWarning && { onWarning }
  switch (transport.type) {
    case 'stdio': {
      const { command, args, env, cwd } = transport
      const { processTarget } = await import('../../stdio/index.ts')
      // The supervisor decides about each restart.
      const target = processTarget({ command, args, env, ...(cwd !== undefined && { cwd }), restarts: false, onStderr, ...warning })
      const open: Target['open'] = async () => {
        const link = await target.open()
        if (link.pid !== undefined) onProcess(link.pid)
        return link
      }
      return { ...target, open }
    }
    case 'http': {
      // The error does not quote the URL: it may contain a secret.
      if (!URL.canParse(transport.url))
        throw new McpError('ERR_CONFIG', 'Expected a URL for the server; with all placeholders resolved it is not a valid URL')
      const { httpTarget } = await import('../../http/client/target.ts')
      const watched = traffic && { onExchange: traffic.onExchange }
      const { url, headers } = transport
      const how = httpTransport && { transport: httpTransport }
      return httpTarget(url, { headers, ...(auth && { authorize: auth }), ...how, ...warning, ...watched })
    }
    case 'memory':
      return memoryTarget(transport.service)
  }
}
