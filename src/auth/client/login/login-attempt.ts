/**
 * One login: what is sent along, and what must come back. Nothing of the way back is looked at before it is known to be
 * the way back from this login and from the authorization server that the person was sent to.
 *
 * @see OAuth 2.1, section 4.1; RFC 9207; the specification, Authorization Response Validation
 */

import { calculatePKCECodeChallenge, generateRandomCodeVerifier, generateRandomState } from 'oauth4webapi'
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

const MAX_CALLBACK_LENGTH = 16 * 1024

export class LoginAttempt {
  readonly url: string
  /** Proves at the token endpoint that the code is used by whoever asked for it. */
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
    refuseWithoutProtection(metadata)
    const state = generateRandomState()
    const verifier = generateRandomCodeVerifier()
    const url = new URL(metadata.authorizationEndpoint as string)
    const params = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      resource,
      // Without it, some authorization servers give no refresh token a second time.
      ...(scopes.includes('offline_access') && { prompt: 'consent' }),
    }
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
    return new LoginAttempt(request, url.href, state, verifier)
  }

  /** Whether this is the way back from this login. */
  isOurs(callback: string | URL): boolean {
    const url = parsed(callback)
    const states = url?.searchParams.getAll('state') ?? []
    return states.length === 1 && isSame(states[0] as string, this.#state)
  }

  /** The code, of the one way back from this login that counts. */
  finish(callback: string | URL): string {
    const { metadata, redirectUri } = this.#request
    const url = parsed(callback)
    if (this.#isUsed) throw authError('redirect', 'This login is over')
    this.#isUsed = true
    if (performance.now() > this.#endsAt) throw authError('redirect', 'The login took too long')
    if (!url || addressOf(url) !== addressOf(new URL(redirectUri)))
      throw authError('redirect', 'The login ended at another address than it was sent to')
    if (!this.isOurs(url)) throw authError('redirect', 'What came back is not the answer to this login')
    const params = url.searchParams
    for (const name of ['iss', 'code', 'error']) {
      if (params.getAll(name).length > 1) throw authError('redirect', `The answer to the login has more than one ${name}`)
    }
    const issuer = params.get('iss')
    if (issuer === null ? metadata.sendsIssuer : issuer !== metadata.issuer) {
      throw authError('issuer-mismatch', `The answer to the login does not come from ${metadata.issuer}`)
    }
    if (params.has('error')) {
      const error = errorCode(params.get('error')) ?? 'an error'
      throw authError('denied', `${metadata.issuer} did not give permission: ${error}`, { error })
    }
    const code = params.get('code')
    if (!code) throw authError('redirect', 'The answer to the login has no code')
    return code
  }
}

function refuseWithoutProtection(metadata: ServerMetadata): void {
  const { issuer, authorizationEndpoint, codeChallengeMethods, responseTypes, isGuessed } = metadata
  if (authorizationEndpoint === undefined) throw authError('server-metadata', `${issuer} has no authorization_endpoint`)
  if (responseTypes && !responseTypes.includes('code'))
    throw authError('server-metadata', `${issuer} gives no codes (response_types_supported)`)
  if (!isGuessed && !codeChallengeMethods?.includes('S256')) {
    throw authError('pkce', `${issuer} does not say that it protects codes with PKCE and S256 (code_challenge_methods_supported)`)
  }
}

function parsed(url: string | URL): URL | undefined {
  const text = String(url)
  return text.length <= MAX_CALLBACK_LENGTH && URL.canParse(text) ? new URL(text) : undefined
}

const addressOf = ({ origin, pathname }: URL): string => `${origin}${pathname}`

/** Takes as long for a near miss as for a far one. */
function isSame(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length
  for (let i = 0; i < expected.length; i += 1) difference |= (given.charCodeAt(i) || 0) ^ expected.charCodeAt(i)
  return difference === 0
}
