/**
 * New tokens for old ones. Whoever holds the lock is the only one to ask: a refresh token that is used twice is taken for
 * stolen, and all that came of the login is revoked.
 */

import type { TokenStore } from '../../store/token-store.ts'
import { isOAuthError } from '../errors.ts'
import type { FetchContext } from '../http.ts'
import { requestTokens, type TokenRequest } from './token-request.ts'
import { isFresh, readTokens, type Tokens } from './tokens.ts'

export interface RefreshRequest extends Omit<TokenRequest, 'params' | 'scopes'> {
  store: TokenStore
  /** Names the tokens in the store. */
  name: string
  /** The access token that is no longer good; whatever else is found in the store is. */
  spent: string
}

export type Refreshed =
  | { kind: 'tokens'; tokens: Tokens }
  /** There is nothing to get tokens with; a login is needed. */
  | { kind: 'gone' }
  /** The authorization server no longer knows the client either. */
  | { kind: 'client-gone' }

export function refreshTokens(exchange: FetchContext, request: RefreshRequest): Promise<Refreshed> {
  const { store, name, spent, key } = request
  return store.withLock(name, async () => {
    const kept = readTokens(await store.get(name))
    if (!kept || kept.keyThumbprint !== key?.thumbprint) return { kind: 'gone' }
    // Somebody else was faster.
    if (kept.accessToken !== spent && isFresh(kept)) return { kind: 'tokens', tokens: kept }
    if (kept.refreshToken === undefined) return { kind: 'gone' }
    try {
      const tokens = await requestRefresh(exchange, request, kept, kept.refreshToken)
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

async function requestRefresh(exchange: FetchContext, request: RefreshRequest, kept: Tokens, refreshToken: string): Promise<Tokens> {
  // No scope is named: it would be the same, and must never be more.
  const params = { grant_type: 'refresh_token', refresh_token: refreshToken }
  const tokens = await requestTokens(exchange, { ...request, scopes: kept.scopes, params })
  return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken, asked: kept.asked }
}
