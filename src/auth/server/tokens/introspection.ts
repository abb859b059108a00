/** Tokens that only their issuer can read (RFC 7662): asked about, and the answer believed for a short time. */

import { toBase64, toBase64Url } from '../../../base/bytes.ts'
import type { Clock } from '../../../base/clock.ts'
import { type FetchBounds, fetchJson } from '../fetch-json.ts'
import type { ResourceServerLimits } from '../limits.ts'
import type { IntrospectionOptions, Issuer } from './issuer.ts'
import { BadToken, IssuerUnavailable } from './token-errors.ts'

type Claims = Record<string, unknown>

interface Known {
  /** Undefined for a token that is not active. */
  claims: Promise<Claims | undefined>
  until: number
}

export class Introspector {
  readonly #issuer: Issuer
  readonly #options: IntrospectionOptions
  readonly #limits: ResourceServerLimits
  readonly #bounds: FetchBounds
  readonly #clock: Clock
  /** By digest: the tokens themselves are not kept. */
  readonly #known = new Map<string, Known>()
  #asking = 0

  constructor(issuer: Issuer, options: IntrospectionOptions, limits: ResourceServerLimits, bounds: FetchBounds, clock: Clock) {
    this.#issuer = issuer
    this.#options = options
    this.#limits = limits
    this.#bounds = bounds
    this.#clock = clock
  }

  async read(token: string): Promise<Claims> {
    const claims = await this.#lookUp(await digest(token), token)
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
    const { maxIntrospecting, maxIntrospected, introspectionCacheMs } = this.#limits
    if (this.#asking >= maxIntrospecting)
      return Promise.reject(new IssuerUnavailable(`More than ${maxIntrospecting} tokens are being asked about (limits.maxIntrospecting)`))
    this.#known.delete(key)
    const [oldest] = this.#known.keys()
    if (this.#known.size >= maxIntrospected && oldest !== undefined) this.#known.delete(oldest)
    const claims = this.#ask(token)
    this.#known.set(key, { claims, until: now + introspectionCacheMs })
    // What could not be found out is found out anew.
    claims.catch(() => this.#known.delete(key))
    return claims
  }

  async #ask(token: string): Promise<Claims | undefined> {
    this.#asking++
    try {
      const url = this.#options.endpoint ?? (await this.#issuer.endpoint('introspection_endpoint'))
      const { status, body } = await fetchJson(url, this.#request(token), this.#bounds)
      if (status !== 200 || typeof body?.active !== 'boolean') throw new Error(`Introspection was answered with status ${status}`)
      return body.active ? body : undefined
    } catch {
      // The reason may quote what was sent.
      throw new IssuerUnavailable('The issuer cannot be asked about the token')
    } finally {
      this.#asking--
    }
  }

  #request(token: string): RequestInit {
    const { clientId, clientSecret, method = 'client_secret_basic' } = this.#options
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' })
    const headers: Record<string, string> = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' }
    if (method === 'client_secret_basic') headers.authorization = basic(clientId, clientSecret)
    else
      for (const [name, value] of [
        ['client_id', clientId],
        ['client_secret', clientSecret],
      ] as const)
        body.set(name, value)
    return { method: 'POST', headers, body: body.toString() }
  }
}

/** RFC 6749, 2.3.1: both are encoded like a form before they are put together. */
export function basic(clientId: string, clientSecret: string): string {
  const encoded = [clientId, clientSecret].map((each) => new URLSearchParams({ '': each }).toString().slice(1)).join(':')
  return `Basic ${toBase64(new TextEncoder().encode(encoded))}`
}

export async function digest(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}
