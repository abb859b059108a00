/** The protected resource metadata: tells clients without a token where to get one (RFC 9728). */

import { McpError } from '../../protocol/errors.ts'
import { isScope } from '../../protocol/interfaces/access.ts'
import { secureUrl } from './secure-url.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

export interface MetadataOptions {
  /** Scopes that clients should request first. Default: `scopes`. */
  scopesSupported?: readonly string[]
  /** The name of the server for people. */
  name?: string
  /** The URL of a page about the server. */
  documentation?: string
}

export interface MetadataFacts {
  resource: string
  issuers: readonly string[]
  scopes: readonly string[]
  dpopAlgorithms: readonly string[] | undefined
  isDpopRequired: boolean
}

/**
 * The canonical form of a resource: scheme and host in lower case, no default port, no slash at the end of the root.
 * Throws ERR_DEFINITION for a URL that cannot be a resource.
 */
export function canonicalResource(resource: string): string {
  const url = secureUrl(resource, 'The resource')
  if (url.hash !== '' || resource.includes('#')) throw new McpError('ERR_DEFINITION', `A resource must not have a fragment: ${resource}`)
  return url.pathname === '/' && url.search === '' ? url.origin : url.href
}

/** The URL of the metadata, and the paths that serve it. Some clients look only at the root, so it is served there too. */
export function metadataPlaces(resource: string): { url: string; paths: readonly string[] } {
  const { origin, pathname, search } = new URL(resource)
  const path = pathname === '/' ? '' : pathname
  return { url: `${origin}${WELL_KNOWN}${path}${search}`, paths: [...new Set([`${WELL_KNOWN}${path}`, WELL_KNOWN])] }
}

/** The metadata as JSON text. */
export function metadataDocument({ scopesSupported, name, documentation }: MetadataOptions, facts: MetadataFacts): string {
  const scopes = scopesSupported ?? facts.scopes
  // offline_access asks the authorization server for a refresh token. It says nothing about access to the resource.
  if (scopes.includes('offline_access') || facts.scopes.includes('offline_access'))
    throw new McpError('ERR_DEFINITION', 'offline_access cannot be a scope of a resource')
  const bad = scopes.find((scope) => !isScope(scope))
  if (bad !== undefined) throw new McpError('ERR_DEFINITION', `Not a valid scope: ${JSON.stringify(bad)}`)
  // JSON.stringify leaves out members that are undefined.
  return JSON.stringify({
    resource: facts.resource,
    authorization_servers: facts.issuers,
    scopes_supported: scopes.length > 0 ? scopes : undefined,
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: facts.dpopAlgorithms,
    dpop_bound_access_tokens_required: facts.isDpopRequired || undefined,
    resource_name: name,
    resource_documentation: documentation,
  })
}
