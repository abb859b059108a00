/**
 * One request to a token endpoint, and what is made of the answer.
 *
 * @see OAuth 2.1, section 3.2; RFC 8707; RFC 9449, section 5
 */

import { scopesIn } from '../discovery/scopes.ts'
import type { ServerMetadata } from '../discovery/server-metadata.ts'
import { authError, errorCode } from '../errors.ts'
import { type FetchContext, fetchJson, type JsonResponse, withoutQuery } from '../http.ts'
import type { ClientIdentity } from '../registration/client-authentication.ts'
import type { DpopKey } from './dpop-key.ts'
import { lifetime, type Tokens } from './tokens.ts'

export interface TokenRequest {
  metadata: ServerMetadata
  client: ClientIdentity
  resource: string
  /** Asked for by this request, or by the login it is the end of. */
  scopes: readonly string[]
  /** Given when tokens are to be bound to it. */
  key: DpopKey | undefined
  /** The parameters of the grant. */
  params: Record<string, string>
}

/** What fits a header of most servers. */
const MAX_TOKEN_LENGTH = 16 * 1024
const TOKEN = /^[\x21-\x7e]+$/

export async function requestTokens(exchange: FetchContext, request: TokenRequest): Promise<Tokens> {
  const { metadata, client, resource, key, params } = request
  const body = new URLSearchParams({ ...params, resource })
  const answer = await fetchTokens(exchange, metadata, client, body, key)
  return readTokenAnswer(answer, request)
}

/** Proves the key if there is one, and once more when the server wants its own nonce in the proof. */
async function fetchTokens(
  exchange: FetchContext,
  metadata: ServerMetadata,
  client: ClientIdentity,
  params: URLSearchParams,
  key: DpopKey | undefined,
): Promise<JsonResponse> {
  const url = metadata.tokenEndpoint
  for (let attempt = 1; ; attempt += 1) {
    const proof = await key?.prove({ method: 'POST', url })
    const answer = await fetchAsClient(exchange, metadata, client, url, new URLSearchParams(params), proof)
    key?.note(url, answer.headers.get('dpop-nonce'))
    const wantsNonce = answer.status >= 400 && answer.json?.error === 'use_dpop_nonce'
    if (!(wantsNonce && attempt === 1 && key && proof && key.hasNewerNonce(url, proof))) return answer
  }
}

/** A request that says which client it comes from, and proves it. */
export async function fetchAsClient(
  exchange: FetchContext,
  metadata: ServerMetadata,
  client: ClientIdentity,
  url: string,
  body: URLSearchParams,
  proof?: string,
): Promise<JsonResponse> {
  // Credentials belong to one authorization server; this is the last place where a mistake could be noticed.
  if (client.issuer !== metadata.issuer)
    throw authError('client', `The client is registered with ${client.issuer}, not with ${metadata.issuer}`)
  const headers = new Headers({ accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' })
  if (proof !== undefined) headers.set('dpop', proof)
  await client.authenticate({ issuer: metadata.issuer, token_endpoint: metadata.tokenEndpoint }, { client_id: client.id }, body, headers)
  return fetchJson(exchange, url, { method: 'POST', headers: Object.fromEntries(headers.entries()), body: body.toString() })
}

function readTokenAnswer({ status, json }: JsonResponse, { metadata, scopes, key }: TokenRequest): Tokens {
  const where = withoutQuery(metadata.tokenEndpoint)
  const error = errorCode(json?.error)
  // Some answer 200 with an error in it.
  if (error !== undefined) throw authError('token', `${where} gave no token: ${error}`, { error })
  if (status !== 200 || !json) throw authError('token', `${where} gave no token but HTTP ${status}${json ? '' : ' without JSON'}`)
  const { access_token: accessToken, token_type: type, refresh_token: refreshToken, scope } = json
  if (!isToken(accessToken)) throw authError('token', `${where} answered without an access token that could be sent`)
  const wanted = key ? 'dpop' : 'bearer'
  if (typeof type !== 'string' || type.toLowerCase() !== wanted) {
    throw authError('token', `${where} gave a token of another type than ${key ? 'DPoP' : 'Bearer'}, which was asked for`)
  }
  const expiresIn = Number(json.expires_in ?? Number.NaN)
  return {
    accessToken,
    type: key ? 'DPoP' : 'Bearer',
    ...(Number.isFinite(expiresIn) && expiresIn >= 0 && lifetime(expiresIn)),
    ...(isToken(refreshToken) && { refreshToken }),
    scopes: typeof scope === 'string' ? scopesIn(scope) : [...scopes],
    asked: [...scopes],
    ...(key && { keyThumbprint: key.thumbprint }),
  }
}

const isToken = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_TOKEN_LENGTH && TOKEN.test(value)
