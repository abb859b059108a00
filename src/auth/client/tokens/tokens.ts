/** The tokens of one person for one server. */

import { readEntry } from '../../store/token-store.ts'

export interface Tokens {
  accessToken: string
  type: 'Bearer' | 'DPoP'
  /** In milliseconds since 1970. Undefined if the authorization server did not say. */
  expiresAt?: number
  /** When to renew them: before they expire, because clocks differ and requests take time. */
  renewAt?: number
  refreshToken?: string
  /** The scopes of the access token. */
  scopes: string[]
  /** The scopes that were requested. A later login requests them again. */
  asked: string[]
  /** The thumbprint of the DPoP key that the tokens are bound to. */
  keyThumbprint?: string
}

const MAX_SKEW_MS = 30_000

/** The times of a token that expires in `seconds`. */
export function lifetime(seconds: number): Pick<Tokens, 'expiresAt' | 'renewAt'> {
  const expiresAt = Date.now() + seconds * 1000
  // A token with a very short lifetime is still used for half of it.
  return { expiresAt, renewAt: expiresAt - Math.min(MAX_SKEW_MS, seconds * 500) }
}

export const isFresh = ({ renewAt }: Tokens): boolean => renewAt === undefined || Date.now() < renewAt

export const isExpired = ({ expiresAt }: Tokens): boolean => expiresAt !== undefined && Date.now() >= expiresAt

/** Undefined if there is no entry, or if it was not written by this code. */
export function readTokens(text: string | undefined): Tokens | undefined {
  const value = readEntry(text)
  if (typeof value?.accessToken !== 'string' || (value.type !== 'Bearer' && value.type !== 'DPoP')) return undefined
  if (!Array.isArray(value.scopes) || !Array.isArray(value.asked)) return undefined
  return value as unknown as Tokens
}
