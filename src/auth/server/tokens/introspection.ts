/** Checks opaque tokens by introspection (RFC 7662). Results are cached for a short time. */

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { Clock } from '../../../base/clock.ts'
import { basicCredentials, sha256 } from '../../oauth-crypto.ts'
import { type FetchBounds, fetchFromIssuer } from '../fetch-json.ts'
import type { ResourceServerLimits } from '../limits.ts'
import type { IntrospectionOptions, Issuer } from './issuer.ts'
import { BadToken, IssuerUnavailable } from './token-errors.ts'

/** The largest number of requests to the issuer at the same time. It protects the issuer from floods of invented tokens. */
export const MAX_INTROSPECTING = 64

/** The largest number of cached results. Results are used for a short time, so only a flood of tokens would fill more. */
const MAX_KNOWN = 10_000

type Claims = Record<string, unknown>

interface Known {
  /** Undefined if the token is not active. */
  claims: Promise<Claims | undefined>
  until: number
}

export class Introspector {
  readonly #issuer: Issuer
  readonly #options: IntrospectionOptions
  readonly #limits: ResourceServerLimits
  readonly #bounds: FetchBounds
  readonly #clock: Clock
  /** By digest: the tokens themselves are not stored. */
  readonly #known: BoundedMap<string, Known>
  #running = 0

  /** @param maxKnown only tests set it */
  constructor(
    issuer: Issuer,
    options: IntrospectionOptions,
    limits: ResourceServerLimits,
    bounds: FetchBounds,
    clock: Clock,
    maxKnown = MAX_KNOWN,
  ) {
    this.#issuer = issuer
    this.#options = options
    this.#limits = limits
    this.#bounds = bounds
    this.#clock = clock
    this.#known = new BoundedMap(maxKnown)
  }

  async read(token: string): Promise<Claims> {
    const claims = await this.#lookUp(await sha256(token), token)
    if (!claims) throw new BadToken('The token is not valid')
    const now = Date.now() / 1000
    const { exp, nbf, iss } = claims
    if (typeof exp === 'number' && exp + this.#limits.clockToleranceSeconds <= now) throw new BadToken('The token has expired')
    if (typeof nbf === 'number' && nbf > now + this.#limits.clockToleranceSeconds) throw new BadToken('The token is not valid yet')
    if (iss !== undefined && iss !== this.#issuer.options.issuer) throw new BadToken('The token is from another issuer')
    return this.#options.withoutSubject === 'client' && claims.sub === undefined ? { ...claims, sub: claims.client_id } : claims
  }

  #lookUp(key: string, token: string): Promise<Claims | undefined> {
    const now = this.#clock.now()
    const known = this.#known.get(key)
    if (known && known.until > now) return known.claims
    const { introspectionCacheMs } = this.#limits
    if (this.#running >= MAX_INTROSPECTING)
      return Promise.reject(new IssuerUnavailable(`More than ${MAX_INTROSPECTING} introspection requests are running`))
    const claims = this.#request(token)
    this.#known.set(key, { claims, until: now + introspectionCacheMs })
    // A failed request is not cached.
    claims.catch(() => this.#known.delete(key))
    return claims
  }

  async #request(token: string): Promise<Claims | undefined> {
    this.#running++
    try {
      const url = this.#options.endpoint ?? (await this.#issuer.endpoint('introspection_endpoint'))
      const { status, body } = await fetchFromIssuer(url, this.#init(token), this.#bounds)
      if (status !== 200 || typeof body?.active !== 'boolean') throw new Error(`Expected an introspection response, got status ${status}`)
      return body.active ? body : undefined
    } catch {
      // The original error may quote the token.
      throw new IssuerUnavailable('The issuer cannot be reached to check the token')
    } finally {
      this.#running--
    }
  }

  #init(token: string): RequestInit {
    const { clientId, clientSecret, method = 'client_secret_basic' } = this.#options
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' })
    const headers: Record<string, string> = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' }
    if (method === 'client_secret_basic') headers.authorization = basicCredentials(clientId, clientSecret)
    else {
      body.set('client_id', clientId)
      body.set('client_secret', clientSecret)
    }
    return { method: 'POST', headers, body: body.toString() }
  }
}
