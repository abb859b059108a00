/**
 * Renews tokens while holding the lock of their store entry. An authorization server treats a refresh token that is used
 * twice as stolen and revokes all tokens of the login, so two processes must never use the same one.
 */

import type { TokenStore } from '../../store/token-store.ts'
import { isOAuthError } from '../errors.ts'
import type { FetchContext } from '../fetch-json.ts'
import { requestTokens, type TokenRequest } from './token-request.ts'
import { isFresh, readTokens, type Tokens } from './tokens.ts'

export interface RefreshRequest extends Omit<TokenRequest, 'params' | 'scopes'> {
  store: TokenStore
  /** The store key of the tokens. */
  name: string
  /** The access token that was refused. Any other token in the store is newer. */
  refusedToken: string
}

export type Refreshed =
  | { kind: 'tokens'; tokens: Tokens }
  /** There is no usable refresh token: a login is needed. */
  | { kind: 'gone' }
  /** The authorization server no longer knows the client: a registration and a login are needed. */
  | { kind: 'client-gone' }

export function refreshTokens(http: FetchContext, request: RefreshRequest): Promise<Refreshed> {
  const { store, name, refusedToken, key } = request
  return store.withLock(name, async () => {
    const kept = readTokens(await store.get(name))
    if (!kept || kept.keyThumbprint !== key?.thumbprint) return { kind: 'gone' }
    // Another request or process has renewed them already.
    if (kept.accessToken !== refusedToken && isFresh(kept)) return { kind: 'tokens', tokens: kept }
    if (kept.refreshToken === undefined) return { kind: 'gone' }
    try {
      const tokens = await requestRefresh(http, request, kept, kept.refreshToken)
      await store.set(name, JSON.stringify(tokens))
      return { kind: 'tokens', tokens }
    } catch (error) {
      const isClientGone = isOAuthError(error, 'invalid_client') || isOAuthError(error, 'unauthorized_client')
      if (!isClientGone && !isOAuthError(error, 'invalid_grant')) throw error
      await store.delete(name)
      return { kind: isClientGone ? 'client-gone' : 'gone' }
    }
  })
}

async function requestRefresh(http: FetchContext, request: RefreshRequest, kept: Tokens, refreshToken: string): Promise<Tokens> {
  // Without a scope parameter the new token has the same scopes.
  const params = { grant_type: 'refresh_token', refresh_token: refreshToken }
  const tokens = await requestTokens(http, { ...request, scopes: kept.scopes, params })
  return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken, asked: kept.asked }
}
