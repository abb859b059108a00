/**
 * The document in which a server says which authorization servers issue its tokens.
 *
 * @see RFC 9728; the specification, Protected Resource Metadata Discovery Requirements
 */

import { authError } from '../errors.ts'
import { type FetchContext, fetchDocument } from '../http.ts'
import { tidy } from './scopes.ts'
import { covers, hasPath, insertedWellKnown, rootWellKnown, rulesFor, usableUrl } from './urls.ts'

export interface ResourceMetadata {
  /** As the server writes it: it is sent back byte for byte. */
  resource: string
  /** Issuers, as the server writes them. At least one. */
  authorizationServers: string[]
  scopesSupported: string[] | undefined
  requiresDpop: boolean
}

export type ResourceLookup =
  | { kind: 'found'; metadata: ResourceMetadata }
  /** Both places were looked at, and there is nothing. Servers of the first revision with authorization are like that. */
  | { kind: 'absent' }

export interface ResourceSource {
  server: URL
  /** From the challenge. */
  location: string | undefined
  /** The location may be at another origin than the server. */
  allowsOtherOrigin: boolean
}

const NAME = 'oauth-protected-resource'
const MAX_AUTHORIZATION_SERVERS = 16

export async function findResourceMetadata(exchange: FetchContext, source: ResourceSource): Promise<ResourceLookup> {
  const { server } = source
  if (source.location !== undefined) {
    const location = judgeLocation(source, source.location)
    const { status, json } = await fetchDocument(exchange, location)
    if (status !== 200 || !json)
      throw authError('resource-metadata', `${location}, which the server names, has no metadata (HTTP ${status})`)
    return { kind: 'found', metadata: read(json, server) }
  }
  const places = hasPath(server) ? [insertedWellKnown(server, NAME), rootWellKnown(server, NAME)] : [rootWellKnown(server, NAME)]
  let isAbsent = true
  for (const place of places) {
    const { status, json } = await fetchDocument(exchange, place)
    if (status === 200 && json) return { kind: 'found', metadata: read(json, server) }
    // An outage must not look like an older server: what would be trusted then is something else.
    if (status >= 500 || status === 429) throw authError('resource-metadata', `${place} answered HTTP ${status}`)
    if (status !== 404) isAbsent = false
  }
  if (isAbsent) return { kind: 'absent' }
  throw authError('resource-metadata', `${server.origin} asks for authorization, but says nowhere where to get it`)
}

function judgeLocation({ server, allowsOtherOrigin }: ResourceSource, location: string): string {
  const url = usableUrl(location, rulesFor(server))
  if (!url) throw authError('resource-metadata', 'The server names a place for its metadata that is neither https nor on this machine')
  if (url.origin !== server.origin && !allowsOtherOrigin) {
    throw authError(
      'resource-metadata',
      `The server names a place for its metadata at another origin, ${url.origin}; set allowOtherOrigin if that is meant`,
    )
  }
  return url.href
}

function read(json: Record<string, unknown>, server: URL): ResourceMetadata {
  const { resource, authorization_servers: servers, scopes_supported: scopes, dpop_bound_access_tokens_required: dpop } = json
  const url = usableUrl(resource, rulesFor(server))
  if (typeof resource !== 'string' || !url) throw authError('resource-metadata', 'The metadata of the server does not say what it is about')
  if (!covers(url, server))
    throw authError('resource-mismatch', `The metadata of ${server.origin}${server.pathname} is about ${url.origin}${url.pathname}`)
  const usable = Array.isArray(servers) ? servers.slice(0, MAX_AUTHORIZATION_SERVERS).filter((issuer) => isIssuer(issuer, server)) : []
  if (usable.length === 0) throw authError('resource-metadata', 'The metadata of the server names no authorization server that can be used')
  return {
    resource,
    authorizationServers: usable,
    scopesSupported: Array.isArray(scopes) ? tidy(scopes) : undefined,
    requiresDpop: dpop === true,
  }
}

const isIssuer = (issuer: unknown, server: URL): issuer is string =>
  typeof issuer === 'string' && !issuer.includes('?') && usableUrl(issuer, rulesFor(server)) !== undefined
