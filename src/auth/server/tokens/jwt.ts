/** Access tokens that are JWTs (RFC 9068), judged with the keys of their issuer and nothing that they bring along. */

import { errors, jwtVerify } from 'jose'
import type { ResourceServerLimits } from '../limits.ts'
import type { Issuer } from './issuer.ts'
import { BadToken, IssuerUnavailable } from './token-errors.ts'

const DEFAULT_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256'] as const

/** The claims of a token that holds; throws `BadToken` or `CannotTell` for any other. */
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
      ...(typ === false ? {} : { typ }),
    })
    if (payload.iat !== undefined && payload.iat > Date.now() / 1000 + clockTolerance) throw new BadToken('The token is from the future')
    return payload
  } catch (error) {
    if (error instanceof BadToken || error instanceof IssuerUnavailable) throw error
    throw new BadToken(reasonOf(error))
  }
}

/** The issuer a token claims to be from, believed by nobody; undefined when it does not say. */
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
  if (error instanceof errors.JWTClaimValidationFailed) return CLAIM_REASONS[error.claim] ?? 'A claim of the token does not hold'
  return 'The token is not valid'
}

const CLAIM_REASONS: Readonly<Record<string, string>> = {
  aud: 'The token is for another resource',
  iss: 'The token is from another issuer',
  nbf: 'The token is not valid yet',
  typ: 'The token is not an access token',
}
