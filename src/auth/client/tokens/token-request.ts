/** Sends requests to a token endpoint and reads the responses (OAuth 2.1, section 3.2; RFC 8707; RFC 9449, section 5). */

import { scopesIn } from '../discovery/scopes.ts'
import type { ServerMetadata } from '../discovery/server-metadata.ts'
import { authError, errorCode } from '../errors.ts'
import { type FetchContext, fetchJson, type JsonResponse, withoutQuery } from '../fetch-json.ts'
import type { ClientIdentity } from '../registration/client-authentication.ts'
import type { DpopKey } from './dpop-key.ts'
import { lifetime, type Tokens } from './tokens.ts'

export interface TokenRequest {
  metadata: ServerMetadata
  client: ClientIdentity
  resource: string
  /** The scopes that this request, or the login before it, asked for. */
  scopes: readonly string[]
  /** The key to bind the tokens to; undefined for bearer tokens. */
  key: DpopKey | undefined
  /** The parameters of the grant. */
  params: Record<string, string>
}

/** The longest accepted token. Most servers do not accept longer headers. */
const MAX_TOKEN_LENGTH = 16 * 1024
/** The headers of a form request. */
export const FORM_HEADERS = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' } as const

const TOKEN = /^[\x21-\x7e]+$/

export async function requestTokens(http: FetchContext, request: TokenRequest): Promise<Tokens> {
  const { metadata, client, resource, key, params } = request
  const body = new URLSearchParams({ ...params, resource })
  const response = await fetchTokens(http, metadata, client, body, key)
  return readTokenResponse(response, request)
}

/** Adds a DPoP proof if there is a key. Repeats the request once if the server requires a nonce in the proof. */
async function fetchTokens(
  http: FetchContext,
  metadata: ServerMetadata,
  client: ClientIdentity,
  params: URLSearchParams,
  key: DpopKey | undefined,
): Promise<JsonResponse> {
  const url = metadata.tokenEndpoint
  for (let attempt = 1; ; attempt += 1) {
    const proof = await key?.prove({ method: 'POST', url })
    const response = await fetchAsClient(http, metadata, client, url, new URLSearchParams(params), proof)
    key?.rememberNonce(url, response.headers.get('dpop-nonce'))
    const wantsNonce = response.status >= 400 && response.json?.error === 'use_dpop_nonce'
    if (!(wantsNonce && attempt === 1 && key && proof && key.hasNewerNonce(url, proof))) return response
  }
}

/** Sends a form request with the credentials of the client. */
export async function fetchAsClient(
  http: FetchContext,
  metadata: ServerMetadata,
  client: ClientIdentity,
  url: string,
  body: URLSearchParams,
  proof?: string,
): Promise<JsonResponse> {
  // The last line of defence: credentials must never be sent to another authorization server.
  if (client.issuer !== metadata.issuer)
    throw authError('client', `Expected a client of ${metadata.issuer}, got one that is registered with ${client.issuer}`)
  const headers: Record<string, string> = { ...FORM_HEADERS, ...(proof !== undefined && { dpop: proof }) }
  await client.authenticate(body, headers)
  return fetchJson(http, url, { method: 'POST', headers, body: body.toString() })
}

function readTokenResponse({ status, json }: JsonResponse, { metadata, scopes, key }: TokenRequest): Tokens {
  const where = withoutQuery(metadata.tokenEndpoint)
  const error = errorCode(json?.error)
  // Some authorization servers report an error with status 200.
  if (error !== undefined) throw authError('token', `${where} issued no token: ${error}`, { error })
  if (status !== 200 || !json) throw authError('token', `${where} issued no token: HTTP ${status}${json ? '' : ' without a JSON object'}`)
  const { access_token: accessToken, token_type: type, refresh_token: refreshToken, scope } = json
  if (!isToken(accessToken)) throw authError('token', `${where} answered without a usable access_token`)
  const expectedType = key ? 'DPoP' : 'Bearer'
  if (typeof type !== 'string' || type.toLowerCase() !== expectedType.toLowerCase()) {
    throw authError('token', `Expected a ${expectedType} token from ${where}, got another token_type`)
  }
  const expiresIn = Number(json.expires_in ?? Number.NaN)
  return {
    accessToken,
    type: expectedType,
    ...(Number.isFinite(expiresIn) && expiresIn >= 0 && lifetime(expiresIn)),
    ...(isToken(refreshToken) && { refreshToken }),
    scopes: typeof scope === 'string' ? scopesIn(scope) : [...scopes],
    asked: [...scopes],
    ...(key && { keyThumbprint: key.thumbprint }),
  }
}

const isToken = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_TOKEN_LENGTH && TOKEN.test(value)
