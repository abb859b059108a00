/** From what a token says to who is calling and what they may do. */

import type { TokenClaims } from '../../../protocol/seams/access.ts'
import { isScope } from '../../../protocol/seams/access.ts'
import { BadToken } from './token-errors.ts'

export interface ClaimRules {
  issuer: string
  audience: string
  clientIdClaim: string
  /** Scopes that come with others. */
  expand(scopes: readonly string[]): readonly string[]
}

const MAX_NAME = 1024

/** Throws `BadToken` unless the claims name this very audience, a subject, a client and an end. */
export function readClaims(claims: Readonly<Record<string, unknown>>, rules: ClaimRules): TokenClaims {
  const { aud, sub, exp } = claims
  const audiences = Array.isArray(aud) ? aud : [aud]
  if (!audiences.includes(rules.audience)) throw new BadToken('The token is for another resource')
  const clientId = claims[rules.clientIdClaim]
  if (!isName(sub)) throw new BadToken('The token has no subject')
  if (!isName(clientId)) throw new BadToken('The token names no client')
  if (typeof exp !== 'number' || !Number.isFinite(exp)) throw new BadToken('The token has no end')
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

/** The same for the same subject, issuer and client, and never the same for others, whatever is in their names. */
export const principalOf = ({ issuer, subject, clientId }: TokenClaims): string => JSON.stringify([issuer, subject, clientId])

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= MAX_NAME

/** `scope` as RFC 9068 has it, or `scp` as some issuers write it. */
function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): string[] {
  const said = scope ?? scp
  const all = typeof said === 'string' ? said.split(' ') : Array.isArray(said) ? said : []
  return all.filter((each): each is string => typeof each === 'string' && isScope(each))
}

/** @param implies what a broad scope contains, which may contain more in its turn */
export function expander(implies: Readonly<Record<string, readonly string[]>> = {}): ClaimRules['expand'] {
  const table = new Map(Object.entries(implies))
  return (scopes) => {
    const all = new Set(scopes)
    // A set may grow while it is walked through.
    for (const scope of all) for (const narrower of table.get(scope) ?? []) all.add(narrower)
    return Object.freeze([...all])
  }
}
