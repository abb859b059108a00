/**
 * Remembers the token of a request for token exchange. It is linked to the claims but not part of them, so that handlers
 * cannot see, log or serialise it.
 */

import type { TokenClaims } from '../../../protocol/interfaces/access.ts'

const tokens = new WeakMap<TokenClaims, string>()

export const rememberToken = (claims: TokenClaims, token: string): void => void tokens.set(claims, token)

export const presentedToken = (claims: TokenClaims): string | undefined => tokens.get(claims)
