/** Tokens without a person: for the client itself, for a workload, or for somebody their company has logged in. */

import { None } from 'oauth4webapi'
import { appendedWellKnown, insertedWellKnown, rulesFor, usableUrl } from '../discovery/urls.ts'
import { authError, errorCode } from '../errors.ts'
import { type FetchContext, fetchDocument, fetchJson, withoutQuery } from '../http.ts'
import { type ClientIdentity, secretInHeader } from '../registration/client-authentication.ts'
import { requestTokens } from '../tokens/token-request.ts'
import type { GrantContext, OAuthGrant, ObtainedTokens } from './oauth-grant.ts'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token'
const REFRESH_TOKEN = 'urn:ietf:params:oauth:token-type:refresh_token'
const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag'

/** A value that expires, so that it is asked for each time. */
export type Supply = string | (() => string | Promise<string>)

/** Tokens for the client itself. */
export const clientCredentials = (): OAuthGrant => ({
  mayRefresh: false,
  extension: 'io.modelcontextprotocol/oauth-client-credentials',
  obtain: (context) => request(context, { grant_type: 'client_credentials' }),
})

/**
 * Tokens for a workload that its platform has given a JWT.
 *
 * @see RFC 7523, section 2.1
 */
export const workloadIdentity = (assertion: Supply): OAuthGrant => ({
  mayRefresh: false,
  obtain: async (context) => request(context, { grant_type: JWT_BEARER, assertion: await supplied(assertion) }),
})

interface EnterpriseProvider {
  /** The identity provider of the company. */
  issuer: string
  /** Found by its metadata unless given. */
  tokenEndpoint?: string
  /** Who we are to it. */
  clientId: string
  clientSecret?: string
}

/** What the identity provider knows the person by: an ID token, or a refresh token where the login was by SAML. */
export type EnterpriseOptions = EnterpriseProvider &
  ({ idToken: Supply; refreshToken?: undefined } | { idToken?: undefined; refreshToken: Supply })

/**
 * Tokens for a person whose company decides what they may use: its identity provider vouches for them, and no page is shown.
 *
 * @see draft-ietf-oauth-identity-assertion-authz-grant; RFC 8693
 */
export const enterprise = (provider: EnterpriseOptions): OAuthGrant => ({
  mayRefresh: false,
  extension: 'io.modelcontextprotocol/enterprise-managed-authorization',
  obtain: async (context) => {
    const { issuer, grantProfiles } = context.discovery.metadata
    // Before the person's company is asked for something that is of no use.
    if (grantProfiles && !grantProfiles.includes(ID_JAG_PROFILE))
      throw authError(
        'server-metadata',
        `${issuer} does not take the word of an identity provider (authorization_grant_profiles_supported)`,
      )
    const assertion = await exchangeSubject(context, provider)
    return request(context, { grant_type: JWT_BEARER, assertion })
  },
})

async function request(
  { discovery, scopes, key, clients, exchange }: GrantContext,
  params: Record<string, string>,
): Promise<ObtainedTokens> {
  const { metadata, resource } = discovery
  const client = await clients.known(metadata)
  if (!client) throw authError('client', `No client is given for ${metadata.issuer}, and this grant needs one`)
  const scoped = scopes.length > 0 ? { ...params, scope: scopes.join(' ') } : params
  const tokens = await requestTokens(exchange, { metadata, client, resource, scopes, key, params: scoped })
  return { tokens: withoutRefresh(tokens), client }
}

/** What can be got again needs no second secret to be kept. */
function withoutRefresh<T extends { refreshToken?: string }>(tokens: T): Omit<T, 'refreshToken'> {
  const { refreshToken: _, ...rest } = tokens
  return rest
}

async function exchangeSubject({ server, discovery, scopes, exchange }: GrantContext, provider: EnterpriseOptions): Promise<string> {
  const url = usableUrl(provider.tokenEndpoint ?? (await tokenEndpointOf(exchange, provider.issuer, server)), rulesFor(server))?.href
  if (url === undefined) throw authError('server-metadata', `The token endpoint of ${provider.issuer} is neither https nor on this machine`)
  const body = new URLSearchParams({
    grant_type: TOKEN_EXCHANGE,
    requested_token_type: ID_JAG,
    audience: discovery.metadata.issuer,
    resource: discovery.resource,
    subject_token: await supplied(provider.idToken ?? provider.refreshToken),
    subject_token_type: provider.idToken === undefined ? REFRESH_TOKEN : ID_TOKEN,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  })
  const headers = new Headers({ accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' })
  const authenticate: ClientIdentity['authenticate'] = provider.clientSecret === undefined ? None() : secretInHeader(provider.clientSecret)
  await authenticate({ issuer: provider.issuer }, { client_id: provider.clientId }, body, headers)
  const { status, json } = await fetchJson(exchange, url, {
    method: 'POST',
    headers: Object.fromEntries(headers.entries()),
    body: body.toString(),
  })
  const error = errorCode(json?.error)
  const { access_token: assertion, issued_token_type: type } = json ?? {}
  if (error !== undefined || status !== 200 || typeof assertion !== 'string' || type !== ID_JAG) {
    throw authError('token', `${withoutQuery(url)} does not vouch for the person: ${error ?? `HTTP ${status}`}`, { error })
  }
  return assertion
}

async function tokenEndpointOf(exchange: FetchContext, issuer: string, server: URL): Promise<unknown> {
  const url = usableUrl(issuer, rulesFor(server))
  if (!url) throw authError('server-metadata', 'The identity provider is neither https nor on this machine')
  for (const place of [appendedWellKnown(url, 'openid-configuration'), insertedWellKnown(url, 'oauth-authorization-server')]) {
    const { status, json } = await fetchDocument(exchange, place)
    if (status !== 200 || !json) continue
    if (json.issuer !== issuer) throw authError('issuer-mismatch', `The metadata at ${place} is not that of ${issuer}`)
    return json.token_endpoint
  }
  throw authError('server-metadata', `${issuer} has no metadata`)
}

const supplied = async (supply: Supply): Promise<string> => (typeof supply === 'string' ? supply : supply())
