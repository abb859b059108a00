/** Chooses the scopes to request. */

/** A longer list is cut: it would not fit into the URL of a login page. */
const MAX_SCOPES = 64
const OFFLINE = 'offline_access'
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/

/** The scopes in a `scope` parameter, without duplicates. */
export const scopesIn = (text: string | undefined): string[] => cleanScopes((text ?? '').split(' '))

/** Drops duplicates and everything that is not a valid scope. */
export const cleanScopes = (scopes: readonly unknown[]): string[] =>
  [...new Set(scopes.filter((scope): scope is string => typeof scope === 'string' && SCOPE_TOKEN.test(scope)))].slice(0, MAX_SCOPES)

export const union = (...lists: readonly (readonly string[])[]): string[] => cleanScopes(lists.flat())

export const includesAll = (have: readonly string[], wanted: readonly string[]): boolean => wanted.every((scope) => have.includes(scope))

export interface ScopeSources {
  /** From the challenge: the scopes that the operation requires. */
  challenged: readonly string[]
  /** From the metadata of the server; undefined if it has no list. */
  supported: readonly string[] | undefined
  /** Requested by earlier logins. */
  before: readonly string[]
  /** From the options of the application. */
  wanted: readonly string[]
  /** From the metadata of the authorization server. */
  known: readonly string[] | undefined
  mayRefresh: boolean
}

/**
 * Applies the specification's Scope Selection Strategy, Step-Up Authorization Flow and Refresh Tokens. An empty list means that
 * the `scope` parameter is left out.
 */
export function selectScopes({ challenged, supported, before, wanted, known, mayRefresh }: ScopeSources): string[] {
  const needed = challenged.length > 0 ? challenged : before.length > 0 ? [] : (supported ?? [])
  const requested = union(before, wanted, needed)
  // offline_access requests refresh tokens. It is sent only if the authorization server lists it.
  if (known?.includes(OFFLINE)) return mayRefresh ? union(requested, [OFFLINE]) : requested
  return requested.filter((scope) => scope !== OFFLINE)
}
