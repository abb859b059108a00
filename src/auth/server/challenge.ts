/** What a caller is told who may not come in: which credentials are wanted, and where to get them (RFC 6750, 3; RFC 9728, 5.1; RFC 9449, 7.1). */

export interface Challenge {
  error?: string
  description?: string
  scopes?: readonly string[]
}

export interface ChallengeOptions {
  metadataUrl: string
  /** Algorithms for DPoP proofs; undefined where DPoP is not taken. */
  dpopAlgorithms: readonly string[] | undefined
  isDpopRequired: boolean
}

/** The value of `WWW-Authenticate`: one challenge for each scheme that is taken, the one that was used first. */
export function challengeHeader(challenge: Challenge, used: 'Bearer' | 'DPoP' | undefined, options: ChallengeOptions): string {
  const { metadataUrl, dpopAlgorithms, isDpopRequired } = options
  const { error, description, scopes = [] } = challenge
  const about: [string, string | undefined][] = [
    ['error', error],
    ['error_description', description],
    ['scope', scopes.length > 0 ? scopes.join(' ') : undefined],
    ['resource_metadata', metadataUrl],
  ]
  const dpop = dpopAlgorithms ? `DPoP ${params([['algs', dpopAlgorithms.join(' ')], ...about])}` : undefined
  const bearer = `Bearer ${params(about)}`
  if (dpop === undefined) return bearer
  if (isDpopRequired || used === 'DPoP') return dpop
  // What went wrong belongs to the scheme that was used; the other is only offered.
  return used === 'Bearer' ? bearer : `${bearer}, ${dpop}`
}

const params = (all: readonly [string, string | undefined][]): string =>
  all.flatMap(([name, value]) => (value === undefined ? [] : [`${name}="${quotable(value)}"`])).join(', ')

/** What may stand between quotes in a header, whatever was given. */
const quotable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, "'")
