/** Finds out where to log in to a protected server, without logging in. */

import { safeFetch } from '../fetch/safe-fetch.ts'
import { oauthChallengeOf, parseChallenges } from './discovery/challenge.ts'
import { discover } from './discovery/discover.ts'
import { unannounced } from './errors.ts'
import { DEFAULT_OAUTH_LIMITS } from './fetch-json.ts'

/** Options for `discoverAuthorization`. */
export interface DiscoverAuthorizationOptions {
  /** The `WWW-Authenticate` header of the server's answer. Default: none, the well-known locations are tried. */
  challenge?: string | undefined
  /** Cancels the requests. */
  signal?: AbortSignal
}

/** The authorization that a server requires. */
export interface DiscoveredAuthorization {
  /** The authorization server: its issuer, or the origin of its endpoint when it names no issuer. */
  issuer: string
  /** The resource that tokens are requested for. */
  resource: string
  scopesSupported: readonly string[] | undefined
}

/**
 * Finds the authorization server of a protected MCP server. Reads metadata only.
 *
 * @throws McpError ERR_AUTH if the metadata cannot be used. `data.reason` is `unannounced` if the server has no metadata
 * @example
 * const { issuer } = await discoverAuthorization(new URL('https://server.example/mcp'))
 */
export async function discoverAuthorization(
  server: URL,
  { challenge, signal = new AbortController().signal }: DiscoverAuthorizationOptions = {},
): Promise<DiscoveredAuthorization> {
  const { resourceMetadata, isOther } = oauthChallengeOf(parseChallenges(challenge))
  const { metadata, resource, scopesSupported } = await discover(
    { fetch: safeFetch({ userUrl: server }), limits: DEFAULT_OAUTH_LIMITS, signal },
    { server, location: resourceMetadata, allowsOtherOrigin: false, allowsLegacy: !isOther, preferred: [], onWarning: () => {} },
  )
  if (metadata.isGuessed) throw unannounced(server)
  const { issuer, authorizationEndpoint } = metadata
  return { issuer: issuer ?? new URL(String(authorizationEndpoint)).origin, resource, scopesSupported }
}
