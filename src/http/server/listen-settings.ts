/** Checks the options of `listen` and fills in their defaults. */

import type { AddressInfo } from 'node:net'
import { pathFault } from '../../base/address/endpoint-path.ts'
import { isLoopbackHost } from '../../base/address/loopback.ts'
import { MAX_WORKERS } from '../../base/serving-maxima.ts'
import { checkMembers, type Members } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { mergeOptions } from '../../protocol/with-defaults.ts'
import { checkHttpOptions } from './check-options.ts'
import { expectOption, expectSecretOption, expectTime, isObject, isSwitch } from './expect-option.ts'
import type { ListenOptions } from './listen-options.ts'
import { HTTP_MEMBERS } from './options.ts'

type Defaulted = 'host' | 'path' | 'maxConnections' | 'maxConnectionsPerAddress' | 'graceMs' | 'drainDelayMs'

/** The options with their defaults. */
export type ListenSettings = ListenOptions & Required<Pick<ListenOptions, Defaulted>>

const DEFAULTS: Required<Pick<ListenOptions, Defaulted>> = {
  host: '127.0.0.1',
  path: '/mcp',
  maxConnections: 12_000,
  maxConnectionsPerAddress: 256,
  graceMs: 10_000,
  drainDelayMs: 0,
}

const MEMBERS: Members<ListenOptions> = {
  port: 1,
  host: 1,
  path: 1,
  tls: 1,
  maxConnections: 1,
  maxConnectionsPerAddress: 1,
  graceMs: 1,
  drainDelayMs: 1,
  handleSignals: 1,
  workers: 1,
  ...HTTP_MEMBERS,
}

/** Refuses unknown options: with a slip a server could be public, or run in one process only. */
export function checkListenOptions(options: ListenOptions): void {
  if ('keys' in options) throw new McpError('ERR_DEFINITION', 'listen: keys belong to the server: createServer({ keys: keyRing(secret) })')
  checkMembers('listen', options, MEMBERS)
  checkHttpOptions(options)
  const { port, host, path, tls, maxConnections, maxConnectionsPerAddress, graceMs, drainDelayMs, handleSignals, workers } = options
  expectOption('port', port, isPort, 'a whole number from 0 to 65535')
  expectOption('host', host, (value) => typeof value === 'string' && value !== '', 'an address such as "127.0.0.1"')
  expectOption('path', path, (value) => typeof value === 'string', 'a text such as "/mcp"')
  expectSecretOption('tls', tls, isObject, '{ cert, key }')
  expectOption('maxConnections', maxConnections, isCount, 'a number that is at least 1')
  if (maxConnectionsPerAddress !== false) {
    expectOption('maxConnectionsPerAddress', maxConnectionsPerAddress, isCount, 'a number that is at least 1, or false')
  }
  expectTime('graceMs', graceMs)
  expectTime('drainDelayMs', drainDelayMs)
  expectOption('handleSignals', handleSignals, isSwitch, 'true or false')
  expectOption('workers', workers, isWorkers, `'auto' or a number from 1 to ${MAX_WORKERS}`)
}

const isPort = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535
const isCount = (value: unknown): boolean => typeof value === 'number' && value >= 1
const isWorkers = (value: unknown): boolean =>
  value === 'auto' || (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_WORKERS)

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

function checkPath(settings: ListenSettings): void {
  const fault = pathFault(settings.path, settings)
  if (fault !== undefined) throw new McpError('ERR_DEFINITION', fault)
}

function checkPublicAddress({ host, allowedHosts, auth, authenticate, dangerouslyAllowAnyHost }: ListenOptions & { host: string }): void {
  if (isLoopbackHost(host) || allowedHosts || auth || authenticate || dangerouslyAllowAnyHost) return
  throw new McpError(
    'ERR_DEFINITION',
    `Listening on ${host} makes the server public: set allowedHosts to the host names that clients use, or make callers authenticate (auth)`,
  )
}
