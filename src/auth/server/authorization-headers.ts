/** The two headers of authorization: `Authorization` of a request, and `WWW-Authenticate` of a refusal. */

import type { RequestHead } from '../../protocol/interfaces/access.ts'

export type Credentials =
  | { kind: 'none' }
  | { kind: 'malformed'; message: string }
  | { kind: 'token'; scheme: 'Bearer' | 'DPoP'; token: string }

/** The form of access tokens (`token68` of RFC 9110). */
const ACCESS_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/

/**
 * Reads the access token of a request. A token anywhere else than in the header is an error.
 *
 * @param form of a well-formed token
 */
export function readCredentials(head: RequestHead, form = ACCESS_TOKEN): Credentials {
  // URLs end up in logs and browser histories.
  if (/[?&]access_token=/i.test(head.url)) return malformed('Expected the access token in the Authorization header, got one in the URL')
  if (/^\s*application\/x-www-form-urlencoded\b/i.test(head.header('content-type') ?? ''))
    return malformed('Expected the access token in the Authorization header, got a form')
  // With two headers, Node and a proxy may use different ones.
  if (head.count('authorization') > 1) return malformed('Expected one Authorization header, got several')
  const header = head.header('authorization')
  if (header === undefined) return { kind: 'none' }
  const match = /^([A-Za-z-]+)(?: +(.*))?$/.exec(header)
  const scheme = match?.[1]?.toLowerCase()
  if (!match) return malformed('The Authorization header is malformed')
  if (scheme !== 'bearer' && scheme !== 'dpop') return { kind: 'none' }
  const token = match[2] ?? ''
  if (!form.test(token)) return malformed('The Authorization header has no well-formed token')
  return { kind: 'token', scheme: scheme === 'dpop' ? 'DPoP' : 'Bearer', token }
}

const malformed = (message: string): Credentials => ({ kind: 'malformed', message })

export interface Challenge {
  error?: string
  description?: string
  scopes?: readonly string[]
}

export interface ChallengeOptions {
  metadataUrl: string
  /** Algorithms for DPoP proofs; undefined if DPoP is not accepted. */
  dpopAlgorithms: readonly string[] | undefined
  isDpopRequired: boolean
}

/** The value of `WWW-Authenticate`: one challenge for each accepted scheme (RFC 6750, 3; RFC 9728, 5.1; RFC 9449, 7.1). */
export function challengeHeader(challenge: Challenge, used: 'Bearer' | 'DPoP' | undefined, options: ChallengeOptions): string {
  const { metadataUrl, dpopAlgorithms, isDpopRequired } = options
  const { error, description, scopes = [] } = challenge
  const about: [string, string | undefined][] = [
    ['error', error],
    ['error_description', description],
    ['scope', scopes.length > 0 ? scopes.join(' ') : undefined],
    ['resource_metadata', metadataUrl],
  ]
  const dpop = dpopAlgorithms ? `DPoP ${formatParams([['algs', dpopAlgorithms.join(' ')], ...about])}` : undefined
  const bearer = `Bearer ${formatParams(about)}`
  if (dpop === undefined) return bearer
  if (isDpopRequired || used === 'DPoP') return dpop
  // The error belongs to the scheme that the request used. Without one, both schemes are offered.
  return used === 'Bearer' ? bearer : `${bearer}, ${dpop}`
}

const formatParams = (all: readonly [string, string | undefined][]): string =>
  all.flatMap(([name, value]) => (value === undefined ? [] : [`${name}="${quotable(value)}"`])).join(', ')

/** Replaces characters that must not appear in a quoted string. */
const quotable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, "'")
