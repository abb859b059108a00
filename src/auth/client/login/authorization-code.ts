/** Tokens by sending a person to the authorization server, and what they come back with. */

import { isLoopback } from '../../../base/address/person-url.ts'
import { asText } from '../../../base/as-text.ts'
import { McpError } from '../../../protocol/errors.ts'
import { authError } from '../errors.ts'
import { DEFAULT_OAUTH_LIMITS } from '../http.ts'
import type { Redirect } from '../options.ts'
import { requestTokens } from '../tokens/token-request.ts'
import { LoginAttempt } from './login-attempt.ts'
import type { GrantContext, OAuthGrant, ObtainedTokens } from './oauth-grant.ts'

/** A place for logins to come back to, open until it is closed. */
export interface OpenRedirect extends Redirect {
  close(): Promise<void>
}

export const authorizationCode: OAuthGrant = { mayRefresh: true, obtain }

async function obtain(context: GrantContext): Promise<ObtainedTokens> {
  const { discovery, scopes, key, clients, exchange, options, signal } = context
  const { metadata, resource } = discovery
  const lifetimeMs = options.limits?.loginTimeoutMs ?? DEFAULT_OAUTH_LIMITS.loginTimeoutMs
  const redirect = await openRedirect(context)
  try {
    const client = await clients.forLogin(metadata, redirect.uri, exchange)
    const login = await LoginAttempt.begin({ metadata, clientId: client.id, redirectUri: redirect.uri, resource, scopes, lifetimeMs })
    const callback = await visit(redirect, login, lifetimeMs, signal)
    const code = login.finish(callback)
    const params = { grant_type: 'authorization_code', code, redirect_uri: redirect.uri, code_verifier: login.verifier }
    const tokens = await requestTokens(exchange, { metadata, client, resource, scopes, key, params })
    return { tokens, client }
  } finally {
    await redirect.close()
  }
}

async function visit(redirect: Redirect, login: LoginAttempt, lifetimeMs: number, signal: AbortSignal): Promise<string | URL> {
  const timeout = AbortSignal.timeout(lifetimeMs)
  const over = AbortSignal.any([signal, timeout])
  let stop = (): void => {}
  const ended = new Promise<never>((_, reject) => {
    // What listens holds on to `timeout`, which Node would else collect before its time.
    stop = () =>
      reject(timeout.aborted ? authError('redirect', `Nobody logged in within ${lifetimeMs} ms (limits.loginTimeoutMs)`) : signal.reason)
    if (over.aborted) stop()
    else over.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([redirect.visit(login.url, { signal: over, isOurs: (url) => login.isOurs(url) }), ended])
  } catch (error) {
    if (error instanceof McpError || signal.aborted) throw error
    const words = error instanceof Error ? error.message : asText(error)
    throw authError('browser', `The page for the login could not be shown: ${words}`, { cause: error })
  } finally {
    over.removeEventListener('abort', stop)
  }
}

async function openRedirect({ discovery, clients, options }: GrantContext): Promise<OpenRedirect> {
  const { redirect, openBrowser } = options
  const given = await clients.given(discovery.metadata)
  if (typeof redirect === 'object') {
    refuseUnsafe(redirect.uri)
    return { uri: redirect.uri, visit: (url, how) => redirect.visit(url, how), close: async () => {} }
  }
  const fixed = redirect ?? given?.redirectUri
  if (fixed !== undefined) refuseUnsafe(fixed)
  const before = (await clients.registration(discovery.metadata.issuer))?.redirectUri
  // Loaded when it is needed: other runtimes have no ports to listen on.
  const { openLoopback } = await import('./node/loopback.ts')
  return openLoopback({ fixed, before, openBrowser })
}

/** @see the specification, Communication Security: redirect URIs are on this machine, or https */
function refuseUnsafe(uri: string): void {
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  const isSafe = url && !uri.includes('#') && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))
  if (!isSafe) throw authError('redirect', 'Logins can be sent back to an https address or to this machine only')
}
