/** What a request brings to prove who sent it: one token, in one header, and nowhere else. */

import type { RequestHead } from '../../protocol/seams/access.ts'

export type Credentials =
  | { kind: 'none' }
  | { kind: 'malformed'; message: string }
  | { kind: 'token'; scheme: 'Bearer' | 'DPoP'; token: string }

export function readCredentials(knock: RequestHead): Credentials {
  // URLs are logged, kept and passed on by everything they meet.
  if (/[?&]access_token=/i.test(knock.url)) return malformed('An access token belongs in the Authorization header, not in the URL')
  if (/^\s*application\/x-www-form-urlencoded\b/i.test(knock.header('content-type') ?? ''))
    return malformed('An access token belongs in the Authorization header, not in a form')
  // Counted, not read: of two headers Node keeps the first, a proxy perhaps the last.
  if (knock.count('authorization') > 1) return malformed('More than one Authorization header')
  const header = knock.header('authorization')
  if (header === undefined) return { kind: 'none' }
  const match = /^([A-Za-z-]+)(?: +(.*))?$/.exec(header)
  const scheme = match?.[1]?.toLowerCase()
  if (!match) return malformed('The Authorization header is malformed')
  if (scheme !== 'bearer' && scheme !== 'dpop') return { kind: 'none' }
  const token = match[2] ?? ''
  if (!/^[A-Za-z0-9\-._~+/]+=*$/.test(token)) return malformed('The Authorization header has no well-formed token')
  return { kind: 'token', scheme: scheme === 'dpop' ? 'DPoP' : 'Bearer', token }
}

const malformed = (message: string): Credentials => ({ kind: 'malformed', message })
