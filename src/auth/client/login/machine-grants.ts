/** The grants that need no browser: for the client itself, for a workload, and for a person who is logged in at their company. */

import { basicCredentials } from '../../oauth-crypto.ts'
import { appendedWellKnown, insertedWellKnown, rulesFor, usableUrl } from '../discovery/urls.ts'
import { authError, errorCode } from '../errors.ts'
import { type FetchContext, fetchDocument, fetchJson, withoutQuery } from '../fetch-json.ts'
import { FORM_HEADERS, requestTokens } from '../tokens/token-request.ts'
import type { GrantContext, OAuthGrant, ObtainedTokens } from './oauth-grant.ts'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token'
const REFRESH_TOKEN = 'urn:ietf:params:oauth:token-type:refresh_token'
const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag'

/** A value, or a function that is called each time, for values that expire. */
export type Supply = string | (() => string | Promise<string>)

/**
 * Obtains tokens for the client itself. Needs the `client` option.
 *
 * @example
 * ```ts
 * const auth = oauth({ client: { id, secret }, grant: clientCredentials() })
 * ```
 */
export const clientCredentials = (): OAuthGrant => ({
  mayRefresh: false,
  extension: 'io.modelcontextprotocol/oauth-client-credentials',
  obtain: (context) => request(context, { grant_type: 'client_credentials' }),
})

/**
 * Obtains tokens for a workload with a JWT of its platform (RFC 7523, section 2.1). Needs the `client` option.
 *
 * @example
 * ```ts
 * const auth = oauth({ client: { id }, grant: workloadIdentity(() => readFile('/var/run/secrets/token', 'utf8')) })
 * ```
 */
export const workloadIdentity = (assertion: Supply): OAuthGrant => ({
  mayRefresh: false,
  obtain: async (context) => request(context, { grant_type: JWT_BEARER, assertion: await supplied(assertion) }),
})

interface EnterpriseProvider {
  /** The identity provider of the company. */
  issuer: string
  /** Default: the token endpoint in its metadata. */
  tokenEndpoint?: string
  /** The client id of this program at the identity provider. */
  clientId: string
  clientSecret?: string
}

/** The login of the person at the identity provider: an ID token, or a refresh token after a SAML login. */
export type EnterpriseOptions = EnterpriseProvider &
  ({ idToken: Supply; refreshToken?: undefined } | { idToken?: undefined; refreshToken: Supply })

/**
 * Obtains tokens for a person through the identity provider of their company, without showing a page
 * (draft-ietf-oauth-identity-assertion-authz-grant, RFC 8693).
 *
 * @example
 * ```ts
 * const auth = oauth({ client, grant: enterprise({ issuer: 'https://idp.example.com', clientId, clientSecret, idToken }) })
 * ```
 */
export const enterprise = (provider: EnterpriseOptions): OAuthGrant => ({
  mayRefresh: false,
  extension: 'io.modelcontextprotocol/enterprise-managed-authorization',
  obtain: async (context) => {
    const { issuer, grantProfiles } = context.discovery.metadata
    // Checked first: an assertion that the authorization server rejects should not be requested.
    if (grantProfiles && !grantProfiles.includes(ID_JAG_PROFILE))
      throw authError(
        'server-metadata',
        `${issuer} does not accept assertions of identity providers (authorization_grant_profiles_supported)`,
      )
    const assertion = await requestAssertion(context, provider)
    return request(context, { grant_type: JWT_BEARER, assertion })
  },
})

async function request(
  { discovery, scopes, key, registration, http }: GrantContext,
  params: Record<string, string>,
): Promise<ObtainedTokens> {
  const { metadata, resource } = discovery
  const client = await registration.known(metadata)
  if (!client) throw authError('client', `Expected a client for ${metadata.issuer}: this grant needs the client option`)
  const scoped = scopes.length > 0 ? { ...params, scope: scopes.join(' ') } : params
  const tokens = await requestTokens(http, { metadata, client, resource, scopes, key, params: scoped })
  return { tokens: withoutRefresh(tokens), client }
}

/** These grants can obtain new tokens at any time, so a refresh token would only be one more secret to store. */
function withoutRefresh<T extends { refreshToken?: string }>(tokens: T): Omit<T, 'refreshToken'> {
  const { refreshToken: _, ...rest } = tokens
  return rest
}

async function requestAssertion({ server, discovery, scopes, http }: GrantContext, provider: EnterpriseOptions): Promise<string> {
  const url = usableUrl(provider.tokenEndpoint ?? (await findTokenEndpoint(http, provider.issuer, server)), rulesFor(server))?.href
  if (url === undefined)
    throw authError('server-metadata', `Expected a token endpoint of ${provider.issuer} that is https or on this machine`)
  const body = new URLSearchParams({
    grant_type: TOKEN_EXCHANGE,
    requested_token_type: ID_JAG,
    audience: discovery.metadata.issuer,
    resource: discovery.resource,
    subject_token: await supplied(provider.idToken ?? provider.refreshToken),
    subject_token_type: provider.idToken === undefined ? REFRESH_TOKEN : ID_TOKEN,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  })
  const headers: Record<string, string> = { ...FORM_HEADERS }
  if (provider.clientSecret === undefined) body.set('client_id', provider.clientId)
  else headers.authorization = basicCredentials(provider.clientId, provider.clientSecret)
  const { status, json } = await fetchJson(http, url, { method: 'POST', headers, body: body.toString() })
  const error = errorCode(json?.error)
  const { access_token: assertion, issued_token_type: type } = json ?? {}
  if (error !== undefined || status !== 200 || typeof assertion !== 'string' || type !== ID_JAG) {
    const reason = error ?? (status === 200 ? 'unexpected token type' : `HTTP ${status}`)
    throw authError('token', `${withoutQuery(url)} did not issue an identity assertion (id-jag) for the person: ${reason}`, { error })
  }
  return assertion
}

async function findTokenEndpoint(http: FetchContext, issuer: string, server: URL): Promise<unknown> {
  const url = usableUrl(issuer, rulesFor(server))
  if (!url) throw authError('server-metadata', 'Expected an identity provider that is https or on this machine')
  for (const place of [appendedWellKnown(url, 'openid-configuration'), insertedWellKnown(url, 'oauth-authorization-server')]) {
    const { status, json } = await fetchDocument(http, place)
    if (status !== 200 || !json) continue
    if (json.issuer !== issuer) throw authError('issuer-mismatch', `The metadata at ${place} belongs to another issuer than ${issuer}`)
    return json.token_endpoint
  }
  throw authError('server-metadata', `${issuer} has no metadata`)
}

const supplied = async (supply: Supply): Promise<string> => (typeof supply === 'string' ? supply : supply())
