/**
 * One login of a person: the request to the authorization endpoint, and the checks of the response (OAuth 2.1, section 4.1;
 * RFC 9207). Nothing in a response is used before it is known to answer this login.
 */

import { randomSecret, sha256 } from '../../oauth-crypto.ts'
import type { ServerMetadata } from '../discovery/server-metadata.ts'
import { authError, errorCode } from '../errors.ts'

export interface LoginRequest {
  metadata: ServerMetadata
  clientId: string
  redirectUri: string
  resource: string
  scopes: readonly string[]
  lifetimeMs: number
}

/** More than any browser sends. */
const MAX_CALLBACK_LENGTH = 16 * 1024

export class LoginAttempt {
  readonly url: string
  /** The PKCE verifier: proves to the token endpoint that the code is used by the client that requested it. */
  readonly verifier: string
  readonly #request: LoginRequest
  readonly #state: string
  readonly #endsAt: number
  #isUsed = false

  private constructor(request: LoginRequest, url: string, state: string, verifier: string) {
    this.#request = request
    this.url = url
    this.#state = state
    this.verifier = verifier
    this.#endsAt = performance.now() + request.lifetimeMs
  }

  static async begin(request: LoginRequest): Promise<LoginAttempt> {
    const { metadata, clientId, redirectUri, resource, scopes } = request
    checkMetadata(metadata)
    const state = randomSecret()
    const verifier = randomSecret()
    const url = new URL(metadata.authorizationEndpoint as string)
    const params = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      state,
      code_challenge: await sha256(verifier),
      code_challenge_method: 'S256',
      resource,
      // Some authorization servers return a refresh token only after a new consent.
      ...(scopes.includes('offline_access') && { prompt: 'consent' }),
    }
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
    return new LoginAttempt(request, url.href, state, verifier)
  }

  /** Whether an address is the response to this login. */
  isOurs(callback: string | URL): boolean {
    const url = parse(callback)
    const states = url?.searchParams.getAll('state') ?? []
    return states.length === 1 && isEqual(states[0] as string, this.#state)
  }

  /** Returns the authorization code of the response. Only the first response counts. */
  finish(callback: string | URL): string {
    const { metadata, redirectUri } = this.#request
    const url = parse(callback)
    if (this.#isUsed) throw authError('redirect', 'This login has already ended')
    this.#isUsed = true
    if (performance.now() > this.#endsAt)
      throw authError('redirect', `The login took longer than ${this.#request.lifetimeMs} ms (limits.loginTimeoutMs)`)
    if (!url || addressOf(url) !== addressOf(new URL(redirectUri)))
      throw authError('redirect', 'The login page sent the person back to another address than the redirect URI')
    if (!this.isOurs(url)) throw authError('redirect', 'The response does not belong to this login: its state differs')
    const params = url.searchParams
    for (const name of ['iss', 'code', 'error']) {
      if (params.getAll(name).length > 1) throw authError('redirect', `The response to the login has more than one ${name} parameter`)
    }
    const issuer = params.get('iss')
    if (issuer === null ? metadata.sendsIssuer : issuer !== metadata.issuer) {
      throw authError('issuer-mismatch', `Expected a response of ${metadata.issuer}, got one whose iss parameter is missing or differs`)
    }
    if (params.has('error')) {
      const error = errorCode(params.get('error')) ?? 'unknown error'
      throw authError('denied', `${metadata.issuer} denied the login: ${error}`, { error })
    }
    const code = params.get('code')
    if (!code) throw authError('redirect', 'The response to the login has no code')
    return code
  }
}

function checkMetadata(metadata: ServerMetadata): void {
  const { issuer, authorizationEndpoint, codeChallengeMethods, responseTypes, isGuessed } = metadata
  if (authorizationEndpoint === undefined) throw authError('server-metadata', `${issuer} has no authorization_endpoint`)
  if (responseTypes && !responseTypes.includes('code'))
    throw authError('server-metadata', `${issuer} does not support the response type code (response_types_supported)`)
  if (!isGuessed && !codeChallengeMethods?.includes('S256')) {
    throw authError('pkce', `${issuer} does not support PKCE with S256 (code_challenge_methods_supported)`)
  }
}

function parse(url: string | URL): URL | undefined {
  const text = String(url)
  return text.length <= MAX_CALLBACK_LENGTH && URL.canParse(text) ? new URL(text) : undefined
}

const addressOf = ({ origin, pathname }: URL): string => `${origin}${pathname}`

/** Compares in constant time. */
function isEqual(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length
  for (let i = 0; i < expected.length; i += 1) difference |= (given.charCodeAt(i) || 0) ^ expected.charCodeAt(i)
  return difference === 0
}
