/** Checks the options of `listen` and fills in their defaults. */

import type { AddressInfo } from 'node:net'
import { isLoopbackAddress } from '../../base/address/loopback.ts'
import { checkMembers, type Members } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { mergeOptions } from '../../protocol/with-defaults.ts'
import type { ListenOptions } from './listen-options.ts'
import { checkHttpOptions, HTTP_MEMBERS, type HttpOptions } from './options.ts'

type Defaulted = 'host' | 'path' | 'maxConnections' | 'maxConnectionsPerAddress' | 'graceMs'

/** The options with their defaults. */
export type ListenSettings = ListenOptions & Required<Pick<ListenOptions, Defaulted>>

const DEFAULTS: Required<Pick<ListenOptions, Defaulted>> = {
  host: '127.0.0.1',
  path: '/mcp',
  maxConnections: 12_000,
  maxConnectionsPerAddress: 256,
  graceMs: 10_000,
}

const MEMBERS: Members<ListenOptions> = {
  port: 1,
  host: 1,
  path: 1,
  tls: 1,
  maxConnections: 1,
  maxConnectionsPerAddress: 1,
  graceMs: 1,
  handleSignals: 1,
  workers: 1,
  ...HTTP_MEMBERS,
}

/** Refuses unknown options: with a slip a server could be public, or run in one process only. */
export function checkListenOptions(options: ListenOptions): void {
  checkMembers('listen', options, MEMBERS)
  checkHttpOptions(options)
}

export function settingsOf(options: ListenOptions): ListenSettings {
  // Behind a proxy every connection comes from the same address.
  const defaults = options.trustProxy ? { ...DEFAULTS, maxConnectionsPerAddress: false as const } : DEFAULTS
  const settings = mergeOptions(defaults, options)
  checkPath(settings)
  checkPublicAddress(settings)
  return settings
}

/** The URL of the endpoint. */
export function urlOf({ address, family, port }: AddressInfo, { tls, path }: ListenSettings): string {
  return `${tls ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}${path}`
}

/** Whether a path serves health or metrics. */
export function isOperation(path: string, { health, metrics }: HttpOptions): boolean {
  return (Boolean(health) && (path === '/healthz' || path === '/readyz')) || (Boolean(metrics) && path === '/metrics')
}

function checkPath({ path, legacySse, ...options }: ListenOptions & { path: string }): void {
  if (isOperation(path, options)) throw new McpError('ERR_DEFINITION', `${path} serves health or metrics: choose another path`)
  if (!path.startsWith('/')) throw new McpError('ERR_DEFINITION', `The path must begin with a slash, not ${JSON.stringify(path)}`)
  if (legacySse !== false && path.endsWith('/messages')) {
    throw new McpError(
      'ERR_DEFINITION',
      `${path} is reserved for clients of the legacy transport: choose another path, or set legacySse: false`,
    )
  }
}

function checkPublicAddress({ host, allowedHosts, auth, authenticate, dangerouslyAllowAnyHost }: ListenOptions & { host: string }): void {
  if (host === 'localhost' || isLoopbackAddress(host) || allowedHosts || auth || authenticate || dangerouslyAllowAnyHost) return
  throw new McpError(
    'ERR_DEFINITION',
    `Listening on ${host} makes the server public: set allowedHosts to the host names that clients use, or make callers authenticate (auth)`,
  )
}
