/** From a refused request to the one authorization server that will be asked: who it is, and what for. */

import { authError } from '../errors.ts'
import type { FetchContext } from '../http.ts'
import { findResourceMetadata } from './resource-metadata.ts'
import { findServerMetadata, guessedMetadata, type ServerMetadata } from './server-metadata.ts'
import { canonicalUri, rulesFor } from './urls.ts'

export interface Discovery {
  /** What tokens are asked for; sent exactly like this. */
  resource: string
  metadata: ServerMetadata
  scopesSupported: string[] | undefined
  requiresDpop: boolean
}

export interface DiscoverOptions {
  server: URL
  /** From the challenge. */
  location: string | undefined
  allowsOtherOrigin: boolean
  /** Servers without metadata are their own authorization servers, as the first revision with authorization had it. */
  allowsLegacy: boolean
  /** Issuers to be preferred, the best first, if the server names them. */
  preferred: readonly (string | undefined)[]
  onWarning(message: string): void
}

export async function discover(exchange: FetchContext, options: DiscoverOptions): Promise<Discovery> {
  const { server, preferred, onWarning } = options
  const found = await findResourceMetadata(exchange, options)
  if (found.kind === 'absent') return discoverLegacy(exchange, options)
  const { resource, authorizationServers, scopesSupported, requiresDpop } = found.metadata
  const issuer = preferred.find((each) => each !== undefined && authorizationServers.includes(each)) ?? (authorizationServers[0] as string)
  const metadata = await findServerMetadata(exchange, issuer, rulesFor(server))
  if (!metadata) throw authError('server-metadata', `${issuer} has no metadata`)
  if (siteOf(metadata.tokenEndpoint) !== siteOf(issuer)) {
    onWarning(`${issuer} has tokens issued by another site, ${new URL(metadata.tokenEndpoint).host}`)
  }
  return { resource, metadata, scopesSupported, requiresDpop }
}

async function discoverLegacy(exchange: FetchContext, { server, allowsLegacy }: DiscoverOptions): Promise<Discovery> {
  if (!allowsLegacy) throw authError('resource-metadata', `${server.origin} asks for authorization, but says nowhere where to get it`)
  const metadata = await findServerMetadata(exchange, server.origin, rulesFor(server))
  return {
    resource: canonicalUri(server),
    metadata: metadata ?? guessedMetadata(server.origin),
    scopesSupported: undefined,
    requiresDpop: false,
  }
}

/** The last two labels of a name: near enough for a warning. */
const siteOf = (url: string): string => new URL(url).hostname.split('.').slice(-2).join('.')
