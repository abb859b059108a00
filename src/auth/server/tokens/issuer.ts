/** An authorization server whose tokens are accepted: its metadata and its keys. */

import type { JSONWebKeySet } from 'jose'
import type { Clock } from '../../../base/clock.ts'
import { McpError } from '../../../protocol/errors.ts'
import { type SafeFetchInit, safeFetch } from '../../fetch/safe-fetch.ts'
import { type Fetch, type FetchBounds, fetchFromIssuer, MAX_DOCUMENT_BYTES } from '../fetch-json.ts'
import type { ResourceServerLimits } from '../limits.ts'
import { secureUrl } from '../secure-url.ts'
import { KeySet } from './key-set.ts'

/** An issuer whose tokens are accepted. */
export interface IssuerOptions {
  /** Exactly as in tokens and metadata: it is compared byte for byte. */
  issuer: string
  /** The URL of its keys. Default: `jwks_uri` in its metadata. */
  jwksUri?: string
  /** The accepted signature algorithms. Default: ES256, EdDSA, Ed25519, PS256 and RS256. */
  algorithms?: readonly string[]
  /** The `typ` header of its tokens; false for an issuer that does not set it. Default: `at+jwt` (RFC 9068). */
  typ?: string | false
  /** The claim that contains the client id. Default: `client_id`. */
  clientIdClaim?: string
  /** Accepts opaque tokens by introspection (RFC 7662), with the credentials of this client. */
  introspection?: IntrospectionOptions
}

/** How opaque tokens are checked at their issuer. */
export interface IntrospectionOptions {
  /** The client of this server at the issuer. */
  clientId: string
  /** The secret of this client. */
  clientSecret: string
  /** Default: `introspection_endpoint` in the metadata. */
  endpoint?: string
  /** How the client authenticates. Default: `client_secret_basic`. */
  method?: 'client_secret_basic' | 'client_secret_post'
  /**
   * `client` treats a token without a subject as a token of the client itself. Use it only if the issuer names the subject in
   * every token of a person: otherwise all people who use one client become the same caller. Default: `refuse`.
   */
  withoutSubject?: 'refuse' | 'client'
}

type Metadata = Record<string, unknown>

export class Issuer {
  readonly options: IssuerOptions
  readonly keys: KeySet
  readonly #bounds: FetchBounds
  #metadata: Promise<Metadata> | undefined

  constructor(options: IssuerOptions, bounds: FetchBounds, clock: Clock) {
    secureUrl(options.issuer, 'An issuer')
    for (const url of [options.jwksUri, options.introspection?.endpoint]) if (url !== undefined) secureUrl(url, 'An endpoint of an issuer')
    const weak = options.algorithms?.find((each) => each === 'none' || each.startsWith('HS'))
    if (weak !== undefined)
      throw new McpError('ERR_DEFINITION', `Expected signature algorithms with a private key of the issuer, got ${weak}`)
    this.options = options
    this.#bounds = bounds
    this.keys = new KeySet(() => this.#loadKeys(), clock)
  }

  /** An endpoint in the metadata. Throws if the metadata does not contain it. */
  async endpoint(name: 'jwks_uri' | 'introspection_endpoint' | 'token_endpoint'): Promise<string> {
    this.#metadata ??= this.#discover()
    let metadata: Metadata
    try {
      metadata = await this.#metadata
    } catch (error) {
      this.#metadata = undefined
      throw error
    }
    const value = metadata[name]
    if (typeof value !== 'string') throw new Error(`The metadata of ${this.options.issuer} has no ${name}`)
    return secureUrl(value, name).href
  }

  async #loadKeys(): Promise<JSONWebKeySet> {
    const url = this.options.jwksUri ?? (await this.endpoint('jwks_uri'))
    const { status, body } = await fetchFromIssuer(url, ACCEPT_JSON, this.#bounds)
    // The URL of the keys may have changed too, so the metadata is read again.
    if (status !== 200 || !Array.isArray(body?.keys)) {
      this.#metadata = undefined
      throw new Error(`Expected a key set at ${url}, got status ${status}`)
    }
    return body as unknown as JSONWebKeySet
  }

  /** Tries RFC 8414 first, then OpenID Connect. Metadata that names another issuer is refused. */
  async #discover(): Promise<Metadata> {
    const { issuer } = this.options
    for (const url of metadataUrls(issuer)) {
      const { status, body } = await fetchFromIssuer(url, ACCEPT_JSON, this.#bounds)
      if (status !== 200 || !body) continue
      if (body.issuer !== issuer) throw new Error(`The metadata at ${url} belongs to another issuer than ${issuer}`)
      return body
    }
    throw new Error(`${issuer} has no metadata`)
  }
}

const ACCEPT_JSON: RequestInit = { headers: { accept: 'application/json' } }

function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const inserted = ['oauth-authorization-server', 'openid-configuration'].map((name) => `${origin}/.well-known/${name}${path}`)
  return path === '' ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`]
}

/**
 * A fetch for requests to an issuer. The origins that the operator configured may be private; all other URLs in the metadata of
 * the issuer must be public.
 *
 * @param configured URLs of the issuer in the options
 */
export function issuerFetch(
  issuer: string,
  configured: readonly (string | undefined)[],
  { fetchTimeoutMs }: Pick<ResourceServerLimits, 'fetchTimeoutMs'>,
): Fetch {
  return (url, init) => {
    const { origin } = new URL(url)
    const userUrl = configured.find((each) => each !== undefined && new URL(each).origin === origin) ?? issuer
    return safeFetch({ userUrl, limits: { fetchTimeoutMs, maxDocumentBytes: MAX_DOCUMENT_BYTES } })(url, init as SafeFetchInit)
  }
}
