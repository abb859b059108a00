/**
 * Tokens for others on behalf of the caller (RFC 8693). The token that a client sent us is for us alone: whoever is asked
 * for something on the caller's behalf gets one that was made for that.
 */

import { type Clock, systemClock } from '../../../base/clock.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { TokenClaims } from '../../../protocol/seams/access.ts'
import { type Fetch, fetchJson } from '../fetch-json.ts'
import { issuerFetch } from '../issuer-fetch.ts'
import { DEFAULT_RESOURCE_SERVER_LIMITS, type ResourceServerLimits } from '../limits.ts'
import { secureUrl } from '../secure-url.ts'
import { basic, digest } from '../tokens/introspection.ts'
import { Issuer } from '../tokens/issuer.ts'
import { presentedToken } from '../tokens/presented-token.ts'

export interface TokenExchangeOptions {
  /** The issuer of the callers' tokens; no other is shown one. */
  issuer: string
  /** Where it exchanges tokens, if its metadata shall not be asked. */
  tokenEndpoint?: string
  clientId: string
  clientSecret: string
  limits?: Partial<Pick<ResourceServerLimits, 'fetchTimeoutMs' | 'maxDocumentBytes'>> & { maxExchanged?: number }
  fetch?: Fetch
  clock?: Clock
}

/** Whom the new token is for; at least one of the two. */
export interface ExchangeTarget {
  audience?: string
  resource?: string
  scopes?: readonly string[]
}

/** The token for a target, for as long as it lasts one and the same. */
export type ExchangeToken = (auth: TokenClaims | undefined, target: ExchangeTarget) => Promise<string>

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const MAX_EXCHANGED = 1000
/** A token is not used in its last moments: it must still be good when it arrives. */
const MARGIN_MS = 30_000

interface Exchanged {
  token: Promise<string>
  until: number
}

export function tokenExchange(options: TokenExchangeOptions): ExchangeToken {
  const { clock = systemClock } = options
  const limits = { ...DEFAULT_RESOURCE_SERVER_LIMITS, maxExchanged: MAX_EXCHANGED, ...options.limits }
  const bounds = { ...limits, fetch: options.fetch ?? issuerFetch(options.issuer, [options.tokenEndpoint], limits) }
  const issuer = new Issuer({ issuer: options.issuer }, limits, bounds, clock)
  if (options.tokenEndpoint !== undefined) secureUrl(options.tokenEndpoint, 'The token endpoint')
  const known = new Map<string, Exchanged>()

  const exchange = async (presented: string, target: ExchangeTarget, entry: Exchanged): Promise<string> => {
    const url = options.tokenEndpoint ?? (await issuer.endpoint('token_endpoint'))
    const { status, body } = await fetchJson(url, requestOf(presented, target, options), bounds)
    const { token, lastsMs } = readAnswer(status, body, presented)
    entry.until = clock.now() + Math.max(0, lastsMs - MARGIN_MS)
    return token
  }

  return async (auth, target) => {
    const presented = auth && presentedToken(auth)
    if (!auth || presented === undefined) throw new McpError('ERR_UNSUPPORTED', 'Only a caller with a token can be acted for')
    if (auth.issuer !== options.issuer) throw new McpError('ERR_UNSUPPORTED', 'The token of the caller is from another issuer')
    if (target.audience === undefined && target.resource === undefined)
      throw new McpError('ERR_DEFINITION', 'Say whom the token is for: audience or resource')
    const key = await digest(JSON.stringify([presented, target.audience, target.resource, target.scopes]))
    const before = known.get(key)
    if (before && before.until > clock.now()) return before.token
    const [oldest] = known.keys()
    if (known.size >= limits.maxExchanged && oldest !== undefined) known.delete(oldest)
    // For ever, until the answer says how long: who comes meanwhile waits for the same.
    const entry: Exchanged = { token: Promise.resolve(''), until: Number.POSITIVE_INFINITY }
    entry.token = exchange(presented, target, entry)
    known.delete(key)
    known.set(key, entry)
    entry.token.catch(() => known.delete(key))
    return entry.token
  }
}

function requestOf(presented: string, target: ExchangeTarget, { clientId, clientSecret }: TokenExchangeOptions): RequestInit {
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
    authorization: basic(clientId, clientSecret),
  }
  return { method: 'POST', headers, body: body.toString() }
}

function readAnswer(status: number, body: Record<string, unknown> | undefined, presented: string): { token: string; lastsMs: number } {
  if (status !== 200 || typeof body?.access_token !== 'string') {
    const error = typeof body?.error === 'string' ? body.error.replace(/[^\w-]/g, '').slice(0, 64) : 'no token'
    throw new McpError('ERR_HTTP', `The token was not exchanged: status ${status}, ${error}`, { data: { status } })
  }
  if (typeof body.token_type !== 'string' || body.token_type.toLowerCase() !== 'bearer')
    throw new McpError('ERR_HTTP', 'The token was exchanged for one that is no bearer token')
  // An issuer that gives back what it got would make us pass our clients' tokens on.
  if (body.access_token === presented) throw new McpError('ERR_INSECURE', 'The token was exchanged for itself')
  const lastsMs = typeof body.expires_in === 'number' && body.expires_in > 0 ? body.expires_in * 1000 : 0
  return { token: body.access_token, lastsMs }
}
