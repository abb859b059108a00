/** Turns the claims of a valid token into the caller: who calls, and with which scopes. */

import type { TokenClaims } from '../../../protocol/interfaces/access.ts'
import { isScope } from '../../../protocol/interfaces/access.ts'
import { BadToken } from './token-errors.ts'

export interface ClaimRules {
  issuer: string
  audience: string
  clientIdClaim: string
  /** Adds the scopes that others imply. */
  expand(scopes: readonly string[]): readonly string[]
}

/** Longer subjects and client ids are not used by real issuers. */
const MAX_NAME = 1024

/** Throws `BadToken` unless the claims contain this audience, a subject, a client and an expiry time. */
export function readClaims(claims: Readonly<Record<string, unknown>>, rules: ClaimRules): TokenClaims {
  const { aud, sub, exp } = claims
  const audiences = Array.isArray(aud) ? aud : [aud]
  if (!audiences.includes(rules.audience)) throw new BadToken('The token is for another resource')
  const clientId = claims[rules.clientIdClaim]
  if (!isName(sub)) throw new BadToken('The token has no subject')
  if (!isName(clientId)) throw new BadToken('The token names no client')
  if (typeof exp !== 'number' || !Number.isFinite(exp)) throw new BadToken('The token has no expiry time')
  const scopes = rules.expand(scopesOf(claims))
  return Object.freeze({
    issuer: rules.issuer,
    subject: sub,
    clientId,
    scopes,
    claims: Object.freeze({ ...claims }),
    expiresAt: exp * 1000,
  })
}

/** The stable name of a caller. JSON keeps the parts apart, so that two callers never share a name. */
export const principalOf = ({ issuer, subject, clientId }: TokenClaims): string => JSON.stringify([issuer, subject, clientId])

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= MAX_NAME

/** RFC 9068 defines `scope`; some issuers use `scp`. */
function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): string[] {
  const value = scope ?? scp
  const all = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : []
  return all.filter((each): each is string => typeof each === 'string' && isScope(each))
}

/** Implied scopes may imply further ones. */
export function expander(implies: Readonly<Record<string, readonly string[]>> = {}): ClaimRules['expand'] {
  const table = new Map(Object.entries(implies))
  return (scopes) => {
    const all = new Set(scopes)
    // A loop over a set also visits the members that are added meanwhile.
    for (const scope of all) for (const narrower of table.get(scope) ?? []) all.add(narrower)
    return Object.freeze([...all])
  }
}
