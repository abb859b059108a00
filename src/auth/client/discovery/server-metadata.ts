/**
 * The document in which an authorization server says where its endpoints are and what it can do.
 *
 * @see RFC 8414; OpenID Connect Discovery 1.0; the specification, Authorization Server Metadata Discovery
 */

import { authError } from '../errors.ts'
import { type FetchContext, fetchDocument } from '../http.ts'
import { appendedWellKnown, hasPath, insertedWellKnown, type UrlRules, usableUrl } from './urls.ts'

export interface ServerMetadata {
  /** As written by whoever named it: compared and never tidied. */
  issuer: string
  authorizationEndpoint: string | undefined
  tokenEndpoint: string
  registrationEndpoint: string | undefined
  revocationEndpoint: string | undefined
  /** Undefined when it does not say. */
  codeChallengeMethods: string[] | undefined
  responseTypes: string[] | undefined
  tokenAuthMethods: string[] | undefined
  scopesSupported: string[] | undefined
  dpopAlgorithms: string[] | undefined
  /** Profiles of grants, such as that of companies that vouch for people. */
  grantProfiles: string[] | undefined
  /** It promises to say who it is in answers to logins. */
  sendsIssuer: boolean
  takesClientDocuments: boolean
  /** Endpoints by convention, of a server without any metadata. */
  isGuessed: boolean
}

const OAUTH = 'oauth-authorization-server'
const OIDC = 'openid-configuration'

/** Undefined when no place has a document; all of them answered 404 then. */
export async function findServerMetadata(exchange: FetchContext, issuer: string, rules: UrlRules): Promise<ServerMetadata | undefined> {
  const url = usableUrl(issuer, rules)
  if (!url) throw authError('server-metadata', 'The authorization server is neither https nor on this machine')
  const places = [insertedWellKnown(url, OAUTH), insertedWellKnown(url, OIDC)]
  if (hasPath(url)) places.push(appendedWellKnown(url, OIDC))
  let isAbsent = true
  for (const place of places) {
    const { status, json } = await fetchDocument(exchange, place)
    if (status === 200 && json) return read(json, issuer, rules, place)
    if (status >= 500 || status === 429) throw authError('server-metadata', `${place} answered HTTP ${status}`)
    if (status !== 404) isAbsent = false
  }
  if (isAbsent) return undefined
  throw authError('server-metadata', `${issuer} has no metadata`)
}

/** Where the endpoints of a server without metadata are by the oldest rules. */
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
  // Byte for byte: a server that names another could otherwise have codes and secrets of that one sent to itself.
  if (json.issuer !== issuer) throw authError('issuer-mismatch', `The metadata at ${place} is not that of ${issuer}`)
  const endpoint = (name: string): string | undefined => {
    const value = json[name]
    if (value === undefined || value === null) return undefined
    const url = usableUrl(value, rules)
    if (!url) throw authError('server-metadata', `The ${name} of ${issuer} is neither https nor on this machine`)
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
