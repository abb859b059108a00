/** Obtains tokens by sending a person to the login page of the authorization server. */

import { isLoopback } from '../../../base/address/loopback.ts'
import { asText } from '../../../base/as-text.ts'
import { McpError } from '../../../protocol/errors.ts'
import { authError } from '../errors.ts'
import { requestTokens } from '../tokens/token-request.ts'
import { LoginAttempt } from './login-attempt.ts'
import type { GrantContext, OAuthGrant, ObtainedTokens } from './oauth-grant.ts'
import type { OpenRedirect, Redirect } from './redirect.ts'

export const authorizationCode: OAuthGrant = { mayRefresh: true, obtain }

async function obtain(context: GrantContext): Promise<ObtainedTokens> {
  const { discovery, scopes, key, registration, http, signal } = context
  const { metadata, resource } = discovery
  const lifetimeMs = http.limits.loginTimeoutMs
  const candidate = await registration.forLogin(metadata)
  const redirect = await openRedirect(context, candidate)
  try {
    const client = await candidate.identify(redirect.uri, http)
    const login = await LoginAttempt.begin({ metadata, clientId: client.id, redirectUri: redirect.uri, resource, scopes, lifetimeMs })
    const callback = await visit(redirect, login, lifetimeMs, signal)
    const code = login.finish(callback)
    const params = { grant_type: 'authorization_code', code, redirect_uri: redirect.uri, code_verifier: login.verifier }
    const tokens = await requestTokens(http, { metadata, client, resource, scopes, key, params })
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
    // This listener also keeps `timeout` alive: Node may collect a timeout signal that nothing refers to.
    stop = () =>
      reject(timeout.aborted ? authError('redirect', `The login took longer than ${lifetimeMs} ms (limits.loginTimeoutMs)`) : signal.reason)
    if (over.aborted) stop()
    else over.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([redirect.visit(login.url, { signal: over, isOurs: (url) => login.isOurs(url) }), ended])
  } catch (error) {
    if (error instanceof McpError || signal.aborted) throw error
    const words = error instanceof Error ? error.message : asText(error)
    throw authError('browser', `The login page could not be shown: ${words}`, { cause: error })
  } finally {
    over.removeEventListener('abort', stop)
  }
}

interface RedirectAddresses {
  /** The address that a given client is registered with. */
  fixed: string | undefined
  /** The address of an earlier registration, used again if its port is free. */
  previous: string | undefined
}

async function openRedirect({ options }: GrantContext, addresses: RedirectAddresses): Promise<OpenRedirect> {
  const { redirect, openBrowser } = options
  if (typeof redirect === 'object') {
    checkRedirectUri(redirect.uri)
    return { uri: redirect.uri, visit: (url, how) => redirect.visit(url, how), close: async () => {} }
  }
  const fixed = redirect ?? addresses.fixed
  if (fixed !== undefined) checkRedirectUri(fixed)
  // Loaded on use: other runtimes cannot listen on a port.
  const { openLoopback } = await import('./node/loopback.ts')
  return openLoopback({ fixed, previous: addresses.previous, openBrowser })
}

/** The specification, Communication Security: redirect URIs are on this machine, or https. */
function checkRedirectUri(uri: string): void {
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  const isSafe = url && !uri.includes('#') && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))
  if (!isSafe) throw authError('redirect', 'Expected a redirect address that is https or on this machine, without a fragment')
}
