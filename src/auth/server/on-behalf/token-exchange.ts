/**
 * Exchanges the token of the caller for a token of another service (RFC 8693). The token of the caller is for this server
 * only and must never be passed on.
 */

import { BoundedMap } from '../../../base/bounded-map.ts'
import { type Clock, systemClock } from '../../../base/clock.ts'
import { checkMembers } from '../../../protocol/check-members.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { TokenClaims } from '../../../protocol/interfaces/access.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import { basicCredentials, sha256 } from '../../oauth-crypto.ts'
import { type Fetch, fetchFromIssuer } from '../fetch-json.ts'
import { DEFAULT_RESOURCE_SERVER_LIMITS } from '../limits.ts'
import { secureUrl } from '../secure-url.ts'
import { Issuer, issuerFetch } from '../tokens/issuer.ts'
import { presentedToken } from '../tokens/remembered-token.ts'

/** Options for `tokenExchange`. */
export interface TokenExchangeOptions {
  /** The issuer of the callers' tokens. They are sent to no other server. */
  issuer: string
  /** Default: `token_endpoint` in the metadata of the issuer. */
  tokenEndpoint?: string
  /** The client of this server at the issuer. */
  clientId: string
  /** The secret of this client. */
  clientSecret: string
  /** The longest time for one request. Default: 5 s. */
  limits?: { fetchTimeoutMs?: number }
  /** Makes the requests. Default: `safeFetch`, which checks addresses. */
  fetch?: Fetch
  /** The clock for expiry. Default: the system clock. */
  clock?: Clock
}

/** The service that the new token is for: at least `audience` or `resource`. */
export interface ExchangeTarget {
  audience?: string
  resource?: string
  scopes?: readonly string[]
}

/** Returns a token for a target. Tokens are cached until they expire. */
export type ExchangeToken = (auth: TokenClaims | undefined, target: ExchangeTarget) => Promise<string>

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
/** The largest number of cached tokens. A token that was dropped costs one more exchange. */
const MAX_EXCHANGED = 1000
/** A token is replaced this long before it expires, because it must still be valid when it arrives. */
const MARGIN_MS = 30_000

interface Exchanged {
  token: Promise<string>
  until: number
}

/**
 * Creates a function that obtains tokens for other services on behalf of the caller.
 *
 * @example
 * ```ts
 * const exchange = tokenExchange({ issuer: 'https://login.example.com', clientId, clientSecret })
 * server.tool('list', {}, async (_args, { caller }) => {
 *   const token = await exchange(caller.auth, { audience: 'https://files.example.com' })
 *   // ...
 * })
 * ```
 */
export function tokenExchange(options: TokenExchangeOptions): ExchangeToken {
  checkMembers('tokenExchange', options, {
    issuer: 1,
    tokenEndpoint: 1,
    clientId: 1,
    clientSecret: 1,
    limits: 1,
    fetch: 1,
    clock: 1,
  })
  return createExchange(options, MAX_EXCHANGED)
}

/** @param maxKnown only tests set it */
export function createExchange(options: TokenExchangeOptions, maxKnown: number): ExchangeToken {
  const { clock = systemClock } = options
  const limits = withDefaults(DEFAULT_RESOURCE_SERVER_LIMITS, options.limits)
  const bounds = { ...limits, fetch: options.fetch ?? issuerFetch(options.issuer, [options.tokenEndpoint], limits) }
  const issuer = new Issuer({ issuer: options.issuer }, bounds, clock)
  if (options.tokenEndpoint !== undefined) secureUrl(options.tokenEndpoint, 'The token endpoint')
  const known = new BoundedMap<string, Exchanged>(maxKnown)

  const exchange = async (presented: string, target: ExchangeTarget, entry: Exchanged): Promise<string> => {
    const url = options.tokenEndpoint ?? (await issuer.endpoint('token_endpoint'))
    const { status, body } = await fetchFromIssuer(url, createRequest(presented, target, options), bounds)
    const { token, lastsMs } = readResponse(status, body, presented)
    entry.until = clock.now() + Math.max(0, lastsMs - MARGIN_MS)
    return token
  }

  return async (auth, target) => {
    const presented = auth && presentedToken(auth)
    if (!auth || presented === undefined) throw new McpError('ERR_UNSUPPORTED', 'Token exchange needs a caller with an access token')
    if (auth.issuer !== options.issuer)
      throw new McpError('ERR_UNSUPPORTED', 'The token of the caller comes from another issuer than the configured one')
    if (target.audience === undefined && target.resource === undefined)
      throw new McpError('ERR_DEFINITION', 'Expected audience or resource in the target of a token exchange')
    const key = await sha256(JSON.stringify([presented, target.audience, target.resource, target.scopes]))
    const before = known.get(key)
    if (before && before.until > clock.now()) return before.token
    // The entry does not expire before the response arrives, so that concurrent calls share one request.
    const entry: Exchanged = { token: Promise.resolve(''), until: Number.POSITIVE_INFINITY }
    entry.token = exchange(presented, target, entry)
    known.set(key, entry)
    entry.token.catch(() => known.delete(key))
    return entry.token
  }
}

function createRequest(presented: string, target: ExchangeTarget, { clientId, clientSecret }: TokenExchangeOptions): RequestInit {
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: presented,
    subject_token_type: ACCESS_TOKEN,
    requested_token_type: ACCESS_TOKEN,
  })
  if (target.audience !== undefined) body.set('audience', target.audience)
  if (target.resource !== undefined) body.set('resource', target.resource)
  if (target.scopes?.length) body.set('scope', target.scopes.join(' '))
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    authorization: basicCredentials(clientId, clientSecret),
  }
  return { method: 'POST', headers, body: body.toString() }
}

function readResponse(status: number, body: Record<string, unknown> | undefined, presented: string): { token: string; lastsMs: number } {
  if (status !== 200 || typeof body?.access_token !== 'string') {
    const error = typeof body?.error === 'string' ? body.error.replace(/[^\w-]/g, '').slice(0, 64) : 'no access_token'
    throw new McpError('ERR_HTTP', `The token exchange failed: status ${status}, ${error}`, { data: { status } })
  }
  if (typeof body.token_type !== 'string' || body.token_type.toLowerCase() !== 'bearer')
    throw new McpError('ERR_HTTP', 'The token exchange returned another token_type than Bearer')
  // An issuer that returns the same token would make us pass the caller's token on.
  if (body.access_token === presented) throw new McpError('ERR_INSECURE', 'The token exchange returned the token of the caller')
  const lastsMs = typeof body.expires_in === 'number' && body.expires_in > 0 ? body.expires_in * 1000 : 0
  return { token: body.access_token, lastsMs }
}
