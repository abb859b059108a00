/**
 * `oauth`: authorization for a client over HTTP.
 *
 * A login goes through the folders in this order: `discovery/` (which authorization server), `registration/` (which client),
 * `login/` (the grant), `tokens/` (the token request, renewal and revocation). `server-authorization.ts` decides when to log
 * in, `server-tokens.ts` carries the steps out.
 */

import { checkMembers, type Members } from '../../protocol/check-members.ts'
import type { Authorizer } from '../../protocol/interfaces/authorizer.ts'
import { memoryTokenStore } from '../store/token-store.ts'
import type { OAuthOptions } from './options.ts'
import { ServerAuthorization } from './server-authorization.ts'

/** Authorizes requests with OAuth tokens. `oauth` creates it. */
export interface OAuth extends Authorizer {
  /** Obtains tokens before the first request needs them. Does nothing if there are valid tokens. */
  login(server: string | URL, options?: { signal?: AbortSignal }): Promise<void>
  /** Revokes the tokens of a server and removes them from the store. */
  logout(server: string | URL, options?: { signal?: AbortSignal }): Promise<void>
}

const MEMBERS: Members<OAuthOptions> = {
  client: 1,
  askForClient: 1,
  clientDocument: 1,
  about: 1,
  openBrowser: 1,
  redirect: 1,
  grant: 1,
  scopes: 1,
  issuer: 1,
  store: 1,
  user: 1,
  dpop: 1,
  allowOtherOrigin: 1,
  allowLegacy: 1,
  network: 1,
  limits: 1,
  onWarning: 1,
}

/**
 * Logs in when a server requires it, and renews the tokens before they expire. One instance works for any number of servers.
 *
 * @example
 * ```ts
 * const auth = oauth({ store: fileTokenStore() })
 * const client = await connect('https://mcp.example.com/mcp', { auth })
 * ```
 */
export function oauth(options: OAuthOptions = {}): OAuth {
  checkMembers('oauth', options, MEMBERS)
  const store = options.store ?? memoryTokenStore()
  const authorizations = new Map<string, ServerAuthorization>()
  const authorizationFor = (url: string | URL): ServerAuthorization => {
    const server = new URL(url)
    const name = nameOf(server)
    const authorization = authorizations.get(name) ?? new ServerAuthorization(server, options, store)
    authorizations.set(name, authorization)
    return authorization
  }
  const extension = options.grant?.extension
  return {
    ...(extension !== undefined && { extensions: { [extension]: {} } }),
    headers: (request) => authorizationFor(request.server).headers(request),
    onUnauthorized: (refusal) => authorizationFor(refusal.request.server).onUnauthorized(refusal),
    onResponse: (request, headers) => authorizations.get(nameOf(request.server))?.onResponse(request.url, headers),
    login: (server, { signal } = {}) => authorizationFor(server).login(signal),
    logout: (server, { signal } = {}) => authorizationFor(server).logout(signal),
  }
}

const nameOf = ({ origin, pathname }: URL): string => `${origin}${pathname}`
