/** Checks access tokens that are JWTs (RFC 9068) with the keys of their issuer. Keys inside a token are ignored. */

import { errors, jwtVerify } from 'jose'
import type { ResourceServerLimits } from '../limits.ts'
import type { Issuer } from './issuer.ts'
import { BadToken, IssuerUnavailable } from './token-errors.ts'

const DEFAULT_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256'] as const

/** Returns the claims of a valid token. Throws `BadToken` or `IssuerUnavailable`. */
export async function readJwt(
  token: string,
  issuer: Issuer,
  audience: string,
  limits: ResourceServerLimits,
): Promise<Record<string, unknown>> {
  const { algorithms = DEFAULT_ALGORITHMS, typ = 'at+jwt', clientIdClaim = 'client_id' } = issuer.options
  const { clockToleranceSeconds: clockTolerance } = limits
  try {
    const { payload } = await jwtVerify(token, (header, jws) => issuer.keys.find(header, jws), {
      algorithms: [...algorithms],
      issuer: issuer.options.issuer,
      audience,
      requiredClaims: ['exp', 'sub', clientIdClaim],
      clockTolerance,
      ...(typ !== false && { typ }),
    })
    if (payload.iat !== undefined && payload.iat > Date.now() / 1000 + clockTolerance)
      throw new BadToken('The token was issued in the future')
    return payload
  } catch (error) {
    if (error instanceof BadToken || error instanceof IssuerUnavailable) throw error
    throw new BadToken(reasonOf(error))
  }
}

/** The issuer in a token that is not verified yet. It only selects the keys to verify with. */
export function claimedIssuer(token: string): string | undefined {
  try {
    const payload = token.split('.')[1] as string
    const { iss } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { iss?: unknown }
    return typeof iss === 'string' ? iss : undefined
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired'
  if (error instanceof errors.JWTClaimValidationFailed) return CLAIM_REASONS[error.claim] ?? 'A claim of the token is not valid'
  return 'The token is not valid'
}

const CLAIM_REASONS: Readonly<Record<string, string>> = {
  aud: 'The token is for another resource',
  iss: 'The token is from another issuer',
  nbf: 'The token is not valid yet',
  typ: 'The token is not an access token',
}
