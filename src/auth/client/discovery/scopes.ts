/** Scopes: which to ask for, and what was asked for before. */

/** What a server may ask for; a list that is longer is cut. */
const MAX_SCOPES = 64
const OFFLINE = 'offline_access'
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/

/** Each once, in the order they came. */
export const scopesIn = (text: string | undefined): string[] => tidy((text ?? '').split(' '))

export const tidy = (scopes: readonly unknown[]): string[] =>
  [...new Set(scopes.filter((scope): scope is string => typeof scope === 'string' && SCOPE_TOKEN.test(scope)))].slice(0, MAX_SCOPES)

export const union = (...lists: readonly (readonly string[])[]): string[] => tidy(lists.flat())

export const includesAll = (have: readonly string[], wanted: readonly string[]): boolean => wanted.every((scope) => have.includes(scope))

export interface ScopeSources {
  /** Those of the challenge: what the operation needs. */
  challenged: readonly string[]
  /** Those of the document about the server; undefined when it has no such list. */
  supported: readonly string[] | undefined
  /** Those that were asked for before. */
  before: readonly string[]
  /** Those the application wants whatever the server says. */
  wanted: readonly string[]
  /** Those of the document about the authorization server. */
  known: readonly string[] | undefined
  mayRefresh: boolean
}

/**
 * The scopes to ask for; none means that the parameter is left out.
 *
 * @see the specification, Scope Selection Strategy, Step-Up Authorization Flow and Refresh Tokens
 */
export function selectScopes({ challenged, supported, before, wanted, known, mayRefresh }: ScopeSources): string[] {
  const needed = challenged.length > 0 ? challenged : before.length > 0 ? [] : (supported ?? [])
  const asked = union(before, wanted, needed)
  // Not a permission but a wish for refresh tokens: only where the authorization server knows it, whoever else names it.
  if (known?.includes(OFFLINE)) return mayRefresh ? union(asked, [OFFLINE]) : asked
  return asked.filter((scope) => scope !== OFFLINE)
}
