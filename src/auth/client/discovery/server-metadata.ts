/** Reads the metadata of an authorization server: its endpoints and features (RFC 8414, OpenID Connect Discovery 1.0). */

import { authError } from '../errors.ts'
import { type FetchContext, fetchDocument } from '../fetch-json.ts'
import { appendedWellKnown, hasPath, insertedWellKnown, type UrlRules, usableUrl } from './urls.ts'

export interface ServerMetadata {
  /** Exactly as the server names it: compared byte for byte. */
  issuer: string
  authorizationEndpoint: string | undefined
  tokenEndpoint: string
  registrationEndpoint: string | undefined
  revocationEndpoint: string | undefined
  /** These lists are undefined if the metadata does not contain them. */
  codeChallengeMethods: string[] | undefined
  responseTypes: string[] | undefined
  tokenAuthMethods: string[] | undefined
  scopesSupported: string[] | undefined
  dpopAlgorithms: string[] | undefined
  /** Grant profiles, such as id-jag for enterprise-managed authorization. */
  grantProfiles: string[] | undefined
  /** Whether responses to logins always contain the `iss` parameter. */
  sendsIssuer: boolean
  takesClientDocuments: boolean
  /** True if there is no metadata and the endpoints follow the convention of the first revision with authorization. */
  isGuessed: boolean
}

const OAUTH = 'oauth-authorization-server'
const OIDC = 'openid-configuration'

export type ServerLookup =
  | { kind: 'found'; metadata: ServerMetadata }
  /** Every well-known URL answered 404. */
  | { kind: 'absent' }
  /** Something answers at the well-known URLs, but not with a document. */
  | { kind: 'hidden' }

export async function findServerMetadata(http: FetchContext, issuer: string, rules: UrlRules): Promise<ServerLookup> {
  const url = usableUrl(issuer, rules)
  if (!url) throw authError('server-metadata', 'Expected an authorization server that is https or on this machine')
  const places = [insertedWellKnown(url, OAUTH), insertedWellKnown(url, OIDC)]
  if (hasPath(url)) places.push(appendedWellKnown(url, OIDC))
  let isAbsent = true
  for (const place of places) {
    const { status, json } = await fetchDocument(http, place)
    if (status === 200 && json) return { kind: 'found', metadata: read(json, issuer, rules, place) }
    if (status >= 500 || status === 429) throw authError('server-metadata', `${place} answered HTTP ${status}`)
    if (status !== 404) isAbsent = false
  }
  return { kind: isAbsent ? 'absent' : 'hidden' }
}

/** The endpoints that the first revision with authorization defines for servers without metadata. */
export const guessedMetadata = (origin: string): ServerMetadata => ({
  issuer: origin,
  authorizationEndpoint: `${origin}/authorize`,
  tokenEndpoint: `${origin}/token`,
  registrationEndpoint: `${origin}/register`,
  revocationEndpoint: undefined,
  codeChallengeMethods: undefined,
  responseTypes: undefined,
  tokenAuthMethods: undefined,
  scopesSupported: undefined,
  dpopAlgorithms: undefined,
  grantProfiles: undefined,
  sendsIssuer: false,
  takesClientDocuments: false,
  isGuessed: true,
})

function read(json: Record<string, unknown>, issuer: string, rules: UrlRules, place: string): ServerMetadata {
  // Compared byte for byte: otherwise a server could claim another issuer and receive its codes and secrets.
  if (json.issuer !== issuer) throw authError('issuer-mismatch', `The metadata at ${place} belongs to another issuer than ${issuer}`)
  const endpoint = (name: string): string | undefined => {
    const value = json[name]
    if (value === undefined || value === null) return undefined
    const url = usableUrl(value, rules)
    if (!url) throw authError('server-metadata', `Expected a ${name} of ${issuer} that is https or on this machine`)
    return url.href
  }
  const tokenEndpoint = endpoint('token_endpoint')
  if (tokenEndpoint === undefined) throw authError('server-metadata', `${issuer} has no token_endpoint`)
  return {
    issuer,
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint,
    registrationEndpoint: endpoint('registration_endpoint'),
    revocationEndpoint: endpoint('revocation_endpoint'),
    codeChallengeMethods: strings(json.code_challenge_methods_supported),
    responseTypes: strings(json.response_types_supported),
    tokenAuthMethods: strings(json.token_endpoint_auth_methods_supported),
    scopesSupported: strings(json.scopes_supported),
    dpopAlgorithms: strings(json.dpop_signing_alg_values_supported),
    grantProfiles: strings(json.authorization_grant_profiles_supported),
    sendsIssuer: json.authorization_response_iss_parameter_supported === true,
    takesClientDocuments: json.client_id_metadata_document_supported === true,
    isGuessed: false,
  }
}

const strings = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : undefined
