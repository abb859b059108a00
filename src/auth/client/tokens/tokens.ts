/** The tokens of one person at one server, and how they are kept. */

export interface Tokens {
  accessToken: string
  type: 'Bearer' | 'DPoP'
  /** On the clock on the wall, in milliseconds; undefined when the authorization server did not say. */
  expiresAt?: number
  /** When to get new ones: somewhat earlier, because clocks differ and requests take time. */
  renewAt?: number
  refreshToken?: string
  /** What the token may be used for. */
  scopes: string[]
  /** What was asked for; a later login asks for no less. */
  asked: string[]
  /** The thumbprint of the key that the tokens are bound to. */
  keyThumbprint?: string
}

const MAX_SKEW_MS = 30_000

/** For tokens that live for so many seconds from now. */
export function lifetime(seconds: number): Pick<Tokens, 'expiresAt' | 'renewAt'> {
  const expiresAt = Date.now() + seconds * 1000
  // Tokens that live for less than that are used all the same.
  return { expiresAt, renewAt: expiresAt - Math.min(MAX_SKEW_MS, seconds * 500) }
}

export const isFresh = ({ renewAt }: Tokens): boolean => renewAt === undefined || Date.now() < renewAt

export const isExpired = ({ expiresAt }: Tokens): boolean => expiresAt !== undefined && Date.now() >= expiresAt

/** Undefined for what was not written by us. */
export function readTokens(text: string | undefined): Tokens | undefined {
  const value = readRecord(text)
  if (typeof value?.accessToken !== 'string' || (value.type !== 'Bearer' && value.type !== 'DPoP')) return undefined
  if (!Array.isArray(value.scopes) || !Array.isArray(value.asked)) return undefined
  return value as unknown as Tokens
}

export function readRecord(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Names what is kept, so that no two things ever share a name. */
export const storeKey = (kind: 'tokens' | 'server' | 'client' | 'bound', ...parts: readonly string[]): string =>
  JSON.stringify([kind, ...parts])
