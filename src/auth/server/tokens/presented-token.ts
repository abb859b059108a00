/**
 * The token behind a grant, for the one thing it may be used for besides being judged: to be exchanged for another.
 * It hangs on the grant without being in it: what handlers see, log and serialise has no token.
 */

import type { TokenClaims } from '../../../protocol/seams/access.ts'

const tokens = new WeakMap<TokenClaims, string>()

export const rememberToken = (grant: TokenClaims, token: string): void => void tokens.set(grant, token)

export const presentedToken = (grant: TokenClaims): string | undefined => tokens.get(grant)
