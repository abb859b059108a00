/**
 * A client that registers itself.
 *
 * @see RFC 7591; the specification, Dynamic Client Registration
 */

import type { ServerMetadata } from '../discovery/server-metadata.ts'
import { authError, errorCode } from '../errors.ts'
import { type FetchContext, fetchJson } from '../http.ts'
import { readRecord } from '../tokens/tokens.ts'
import type { Credentials } from './client-authentication.ts'

export interface Registration extends Credentials {
  /** The one address that logins are sent back to. */
  redirectUri: string
  /** On the clock on the wall, in milliseconds. */
  secretExpiresAt?: number
}

export interface RegistrationRequest {
  redirectUri: string
  about: { name?: string; uri?: string }
}

const MAX_CREDENTIAL_LENGTH = 4096
/** The best first. A program on somebody's machine keeps no secret, so it wants none. */
const METHODS = ['none', 'client_secret_basic', 'client_secret_post']

export async function register(exchange: FetchContext, metadata: ServerMetadata, request: RegistrationRequest): Promise<Registration> {
  const { redirectUri, about } = request
  const { issuer, registrationEndpoint, tokenAuthMethods } = metadata
  const method = tokenAuthMethods ? METHODS.find((each) => tokenAuthMethods.includes(each)) : 'none'
  if (method === undefined)
    throw authError('registration', `${issuer} takes no way of proving who a client is that one can register itself for`)
  const answer = await fetchJson(exchange, registrationEndpoint as string, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      client_name: about.name ?? 'Portico',
      ...(about.uri === undefined ? {} : { client_uri: about.uri }),
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: isOfThisMachine(redirectUri) ? 'native' : 'web',
      token_endpoint_auth_method: method,
    }),
  })
  const { status, json } = answer
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: given, client_secret_expires_at: expires } = json ?? {}
  if (status < 200 || status > 299 || !isCredential(id)) {
    const error = errorCode(json?.error)
    const why = error === undefined ? `HTTP ${status}` : `${error} (HTTP ${status})`
    throw authError('registration', `${issuer} did not register this client with ${redirectUri}: ${why}`, { error })
  }
  return {
    id,
    redirectUri,
    ...(isCredential(secret) && { secret }),
    method: typeof given === 'string' ? given : method,
    ...(typeof expires === 'number' && expires > 0 && { secretExpiresAt: expires * 1000 }),
  }
}

/** Undefined for what was not written by us, and for a client whose secret has expired. */
export function readRegistration(text: string | undefined): Registration | undefined {
  const value = readRecord(text)
  if (!isCredential(value?.id) || typeof value.redirectUri !== 'string') return undefined
  if (typeof value.secretExpiresAt === 'number' && value.secretExpiresAt <= Date.now()) return undefined
  return value as unknown as Registration
}

const isCredential = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= MAX_CREDENTIAL_LENGTH

const isOfThisMachine = (redirectUri: string): boolean => new URL(redirectUri).protocol !== 'https:'
