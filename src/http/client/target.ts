/** The target of a connection over HTTP. */

import { isLoopback } from '../../base/address/loopback.ts'
import { checkMembers, type Members } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Target } from '../../protocol/interfaces/link.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { DEFAULT_HTTP_CLIENT_LIMITS, type HttpClientLimits, type HttpTargetOptions } from './options.ts'

const MEMBERS: Members<HttpTargetOptions> = {
  headers: 1,
  authorize: 1,
  transport: 1,
  allowInsecure: 1,
  tls: 1,
  limits: 1,
  onExchange: 1,
  onWarning: 1,
}

/**
 * A server at a URL, for `connect`. The client finds out which HTTP transport and revision the server speaks.
 *
 * @example
 * ```ts
 * const client = await connect(httpTarget('https://mcp.example.com/mcp', { headers: { 'x-team': 'docs' } }))
 * ```
 */
export function httpTarget(url: string | URL, options: HttpTargetOptions = {}): Target {
  checkMembers('httpTarget', options, MEMBERS)
  const address = addressOf(url)
  const { origin, pathname, search } = address
  // Without the query, which may hold a key.
  const label = `${origin}${pathname}`
  if (address.protocol !== 'https:' && !isLoopback(address.hostname) && !options.allowInsecure) {
    throw new McpError('ERR_INSECURE', `${label} is neither https nor on this machine; set allowInsecure to connect without encryption`)
  }
  const limits: HttpClientLimits = withDefaults(DEFAULT_HTTP_CLIENT_LIMITS, options.limits)
  const onWarning = options.onWarning ?? (() => {})
  return {
    key: `${label}${search}`,
    label,
    mirrorsHeaders: true,
    hasRemoteSessions: true,
    open: async () => {
      // Loaded on use: a program that only serves does not need the connection pool, which is slow to load.
      const [{ HttpLink }, { ConnectionPool }, { openDispatcher }] = await Promise.all([
        import('./link.ts'),
        import('./connection-pool.ts'),
        import('./dispatcher/undici.ts'),
      ])
      const connection = new ConnectionPool(address, label, limits, options, openDispatcher)
      return new HttpLink({ connection, transport: options.transport, onWarning })
    },
  }
}

function addressOf(url: string | URL): URL {
  const address = URL.canParse(String(url)) ? new URL(url) : undefined
  if (!address || !/^https?:$/.test(address.protocol))
    throw new McpError('ERR_UNSUPPORTED', `Not an http or https URL: ${JSON.stringify(String(url))}`)
  if (address.username !== '' || address.password !== '') {
    throw new McpError(
      'ERR_UNSUPPORTED',
      `A URL must not contain a user name or password (${address.origin}); set an authorization header instead`,
    )
  }
  address.hash = ''
  return address
}
