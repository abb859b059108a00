/** A server behind a URL as something to connect to. */

import { isLoopback } from '../../base/address/loopback.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Target } from '../../protocol/seams/link.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { DEFAULT_HTTP_CLIENT_LIMITS, type HttpClientLimits, type HttpTargetOptions } from './options.ts'

/** Speaks every HTTP transport there has been; which one the server speaks is found out. */
export function httpTarget(url: string | URL, options: HttpTargetOptions = {}): Target {
  const address = addressOf(url)
  const { origin, pathname, search } = address
  // A query may hold a key.
  const label = `${origin}${pathname}`
  if (address.protocol !== 'https:' && !isLoopback(address.hostname) && !options.allowInsecure) {
    throw new McpError('ERR_INSECURE', `${label} is neither https nor on this machine; set allowInsecure if it must be unencrypted`)
  }
  const limits: HttpClientLimits = withDefaults(DEFAULT_HTTP_CLIENT_LIMITS, options.limits)
  const onWarning = options.onWarning ?? (() => {})
  return {
    key: `${label}${search}`,
    label,
    mirrorsHeaders: true,
    hasRemoteSessions: true,
    open: async () => {
      // The connection pool takes longer to load than all the rest, and a program that only serves has no use for it.
      const [{ HttpLink }, { HttpSender }] = await Promise.all([import('./link.ts'), import('./sender.ts')])
      return new HttpLink({ url: address, server: label, sender: new HttpSender(address, label, limits, options), limits, onWarning })
    },
  }
}

function addressOf(url: string | URL): URL {
  const address = URL.canParse(String(url)) ? new URL(url) : undefined
  if (!address || !/^https?:$/.test(address.protocol))
    throw new McpError('ERR_UNSUPPORTED', `Not an http or https URL: ${JSON.stringify(String(url))}`)
  if (address.username !== '' || address.password !== '') {
    throw new McpError('ERR_UNSUPPORTED', `A URL may not hold a password (${address.origin}); give an authorization header`)
  }
  address.hash = ''
  return address
}
