/** Reads the protected resource metadata, in which a server names its authorization servers (RFC 9728). */

import { authError } from '../errors.ts'
import { type FetchContext, fetchDocument } from '../fetch-json.ts'
import { cleanScopes } from './scopes.ts'
import { covers, hasPath, insertedWellKnown, rootWellKnown, rulesFor, usableUrl } from './urls.ts'

export interface ResourceMetadata {
  /** Exactly as the server writes it: it is sent back byte for byte. */
  resource: string
  /** At least one issuer, exactly as the server writes it. */
  authorizationServers: string[]
  scopesSupported: string[] | undefined
  requiresDpop: boolean
}

export type ResourceLookup =
  | { kind: 'found'; metadata: ResourceMetadata }
  /** No well-known URL has a document, as with servers of the first revision with authorization. */
  | { kind: 'absent' }
  /** Something answers at the well-known URLs, but not with a document. */
  | { kind: 'hidden' }

export interface ResourceSource {
  server: URL
  /** The metadata URL in the challenge. */
  location: string | undefined
  /** Allows a location at another origin than the server. */
  allowsOtherOrigin: boolean
}

const NAME = 'oauth-protected-resource'
/** Real servers name one or two. */
const MAX_AUTHORIZATION_SERVERS = 16

export async function findResourceMetadata(http: FetchContext, source: ResourceSource): Promise<ResourceLookup> {
  const { server } = source
  if (source.location !== undefined) {
    const location = checkLocation(source, source.location)
    const { status, json } = await fetchDocument(http, location)
    if (status !== 200 || !json)
      throw authError(
        'resource-metadata',
        `Expected protected resource metadata at ${location}, which the server names, got HTTP ${status}`,
      )
    return { kind: 'found', metadata: read(json, server) }
  }
  const places = hasPath(server) ? [insertedWellKnown(server, NAME), rootWellKnown(server, NAME)] : [rootWellKnown(server, NAME)]
  let isAbsent = true
  for (const place of places) {
    const { status, json } = await fetchDocument(http, place)
    if (status === 200 && json) return { kind: 'found', metadata: read(json, server) }
    // An outage must not look like an older server, for which another authorization server would be trusted.
    if (status >= 500 || status === 429) throw authError('resource-metadata', `${place} answered HTTP ${status}`)
    if (status !== 404) isAbsent = false
  }
  return { kind: isAbsent ? 'absent' : 'hidden' }
}

function checkLocation({ server, allowsOtherOrigin }: ResourceSource, location: string): string {
  const url = usableUrl(location, rulesFor(server))
  if (!url) throw authError('resource-metadata', 'Expected a metadata URL that is https or on this machine')
  if (url.origin !== server.origin && !allowsOtherOrigin) {
    throw authError(
      'resource-metadata',
      `The metadata of ${server.origin} is at another origin, ${url.origin}. If this is intended, set allowOtherOrigin`,
    )
  }
  return url.href
}

function read(json: Record<string, unknown>, server: URL): ResourceMetadata {
  const { resource, authorization_servers: servers, scopes_supported: scopes, dpop_bound_access_tokens_required: dpop } = json
  const url = usableUrl(resource, rulesFor(server))
  if (typeof resource !== 'string' || !url) throw authError('resource-metadata', 'The metadata of the server has no valid resource')
  if (!covers(url, server))
    throw authError(
      'resource-mismatch',
      `Expected metadata for ${server.origin}${server.pathname}, got metadata for ${url.origin}${url.pathname}`,
    )
  const usable = Array.isArray(servers) ? servers.slice(0, MAX_AUTHORIZATION_SERVERS).filter((issuer) => isIssuer(issuer, server)) : []
  if (usable.length === 0) throw authError('resource-metadata', 'The metadata of the server names no usable authorization server')
  return {
    resource,
    authorizationServers: usable,
    scopesSupported: Array.isArray(scopes) ? cleanScopes(scopes) : undefined,
    requiresDpop: dpop === true,
  }
}

const isIssuer = (issuer: unknown, server: URL): issuer is string =>
  typeof issuer === 'string' && !issuer.includes('?') && usableUrl(issuer, rulesFor(server)) !== undefined
