/** Finds the authorization server of an MCP server, starting from a refused request. */

import { authError, unannounced } from '../errors.ts'
import type { FetchContext } from '../fetch-json.ts'
import { findResourceMetadata } from './resource-metadata.ts'
import { findServerMetadata, guessedMetadata, type ServerMetadata } from './server-metadata.ts'
import { canonicalUri, rulesFor } from './urls.ts'

export interface Discovery {
  /** The `resource` parameter of token requests, exactly as the server writes it. */
  resource: string
  metadata: ServerMetadata
  /** The scopes in the metadata of the server. */
  scopesSupported: string[] | undefined
  requiresDpop: boolean
}

export interface DiscoverOptions {
  server: URL
  /** The metadata URL in the challenge. */
  location: string | undefined
  allowsOtherOrigin: boolean
  /** Treats a server without metadata as its own authorization server, as the first revision with authorization defines. */
  allowsLegacy: boolean
  /** Issuers in order of preference. Only issuers that the server names are used. */
  preferred: readonly (string | undefined)[]
  onWarning(message: string): void
}

export async function discover(http: FetchContext, options: DiscoverOptions): Promise<Discovery> {
  const { server, preferred, onWarning } = options
  const found = await findResourceMetadata(http, options)
  if (found.kind === 'hidden') throw unannounced(server)
  if (found.kind === 'absent') return discoverLegacy(http, options)
  const { resource, authorizationServers, scopesSupported, requiresDpop } = found.metadata
  const issuer = preferred.find((each) => each !== undefined && authorizationServers.includes(each)) ?? (authorizationServers[0] as string)
  const looked = await findServerMetadata(http, issuer, rulesFor(server))
  if (looked.kind !== 'found') throw authError('server-metadata', `${issuer} has no authorization server metadata`)
  const { metadata } = looked
  if (siteOf(metadata.tokenEndpoint) !== siteOf(issuer)) {
    onWarning(`The token endpoint of ${issuer} is on another site, ${new URL(metadata.tokenEndpoint).host}`)
  }
  return { resource, metadata, scopesSupported, requiresDpop }
}

async function discoverLegacy(http: FetchContext, { server, allowsLegacy }: DiscoverOptions): Promise<Discovery> {
  if (!allowsLegacy) throw unannounced(server)
  const looked = await findServerMetadata(http, server.origin, rulesFor(server))
  if (looked.kind === 'hidden') throw unannounced(server)
  return {
    resource: canonicalUri(server),
    metadata: looked.kind === 'found' ? looked.metadata : guessedMetadata(server.origin),
    scopesSupported: undefined,
    requiresDpop: false,
  }
}

/** The last two labels of the host name: precise enough for a warning. */
const siteOf = (url: string): string => new URL(url).hostname.split('.').slice(-2).join('.')
