/** Registers this client with an authorization server (RFC 7591). */

import { readEntry } from '../../store/token-store.ts'
import type { ServerMetadata } from '../discovery/server-metadata.ts'
import { authError, errorCode } from '../errors.ts'
import { type FetchContext, fetchJson } from '../fetch-json.ts'
import type { Credentials } from './client-authentication.ts'

export interface Registration extends Credentials {
  /** The redirect address of the registration. */
  redirectUri: string
  /** In milliseconds since 1970. */
  secretExpiresAt?: number | undefined
}

export interface RegistrationRequest {
  redirectUri: string
  about: { name?: string; uri?: string }
}

const MAX_CREDENTIAL_LENGTH = 4096
/** In order of preference. A program on a person's machine cannot protect a secret, so `none` comes first. */
const METHODS = ['none', 'client_secret_basic', 'client_secret_post']

export async function register(http: FetchContext, metadata: ServerMetadata, request: RegistrationRequest): Promise<Registration> {
  const { redirectUri, about } = request
  const { issuer, registrationEndpoint, tokenAuthMethods } = metadata
  const method = tokenAuthMethods ? METHODS.find((each) => tokenAuthMethods.includes(each)) : 'none'
  if (method === undefined) throw authError('registration', `${issuer} supports none of the authentication methods ${METHODS.join(', ')}`)
  const { status, json } = await fetchJson(http, registrationEndpoint as string, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      client_name: about.name ?? 'Portico',
      client_uri: about.uri,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: isNative(redirectUri) ? 'native' : 'web',
      token_endpoint_auth_method: method,
    }),
  })
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: given, client_secret_expires_at: expires } = json ?? {}
  // Some authorization servers answer 200 instead of 201.
  if (status < 200 || status > 299 || !isCredential(id)) {
    const error = errorCode(json?.error)
    // Nothing says that there is a login at all: most such servers take API keys.
    if (metadata.isGuessed && error === undefined)
      throw authError(
        'no-login',
        `${issuer} requires credentials and offers no login: it publishes no authorization server, and ${registrationEndpoint} answered HTTP ${status}. If you have a key or a token for it, send that in a header`,
      )
    const why = error === undefined ? `HTTP ${status}` : `${error} (HTTP ${status})`
    throw authError('registration', `${issuer} refused to register this client with the redirect address ${redirectUri}: ${why}`, { error })
  }
  return {
    id,
    redirectUri,
    secret: isCredential(secret) ? secret : undefined,
    method: typeof given === 'string' ? given : method,
    secretExpiresAt: typeof expires === 'number' && expires > 0 ? expires * 1000 : undefined,
  }
}

/** Undefined if there is no entry, if it was not written by this code, or if the secret has expired. */
export function readRegistration(text: string | undefined): Registration | undefined {
  const value = readEntry(text)
  if (!isCredential(value?.id) || typeof value.redirectUri !== 'string') return undefined
  if (typeof value.secretExpiresAt === 'number' && value.secretExpiresAt <= Date.now()) return undefined
  return value as unknown as Registration
}

const isCredential = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= MAX_CREDENTIAL_LENGTH

const isNative = (redirectUri: string): boolean => new URL(redirectUri).protocol !== 'https:'
