/** What the server says about itself to clients that have no token yet (RFC 9728, 2). */

import { McpError } from '../../protocol/errors.ts'
import { isScope } from '../../protocol/seams/access.ts'

export interface MetadataOptions {
  /** Scopes that clients should ask for at first; those that every request needs unless given. */
  scopesSupported?: readonly string[]
  /** The name of the server for people, and a page about it. */
  name?: string
  documentation?: string
}

export interface MetadataFacts {
  resource: string
  issuers: readonly string[]
  scopes: readonly string[]
  dpopAlgorithms: readonly string[] | undefined
  isDpopRequired: boolean
}

/** As JSON. */
export function metadataDocument({ scopesSupported, name, documentation }: MetadataOptions, facts: MetadataFacts): string {
  const scopes = scopesSupported ?? facts.scopes
  // Whether a client may come back without its user is between the client and the authorization server.
  if (scopes.includes('offline_access') || facts.scopes.includes('offline_access'))
    throw new McpError('ERR_DEFINITION', 'offline_access is no scope of a resource')
  const bad = scopes.find((scope) => !isScope(scope))
  if (bad !== undefined) throw new McpError('ERR_DEFINITION', `Not a scope: ${JSON.stringify(bad)}`)
  return JSON.stringify({
    resource: facts.resource,
    authorization_servers: facts.issuers,
    ...(scopes.length > 0 ? { scopes_supported: scopes } : {}),
    bearer_methods_supported: ['header'],
    ...(facts.dpopAlgorithms ? { dpop_signing_alg_values_supported: facts.dpopAlgorithms } : {}),
    ...(facts.isDpopRequired ? { dpop_bound_access_tokens_required: true } : {}),
    ...(name === undefined ? {} : { resource_name: name }),
    ...(documentation === undefined ? {} : { resource_documentation: documentation }),
  })
}
