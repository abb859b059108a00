/** An authorization server whose tokens are taken: what its metadata says, and its keys. */

import type { JSONWebKeySet } from 'jose'
import type { Clock } from '../../../base/clock.ts'
import { McpError } from '../../../protocol/errors.ts'
import { type FetchBounds, fetchJson } from '../fetch-json.ts'
import type { ResourceServerLimits } from '../limits.ts'
import { secureUrl } from '../secure-url.ts'
import { KeySet } from './key-set.ts'

export interface IssuerOptions {
  /** Exactly as it stands in tokens and in the metadata: not a character more or less. */
  issuer: string
  /** Where its keys are, if its metadata shall not be asked. */
  jwksUri?: string
  /** Signatures that are taken: ES256, EdDSA, PS256 and RS256 unless given. */
  algorithms?: readonly string[]
  /** The type in the head of its tokens, `at+jwt` as RFC 9068 wants it; false for an issuer that does not write it. */
  typ?: string | false
  /** The claim that names the client, for an issuer that has another than `client_id`. */
  clientIdClaim?: string
  /** Asks the issuer about tokens that are not JWTs (RFC 7662), as this client. */
  introspection?: IntrospectionOptions
}

export interface IntrospectionOptions {
  clientId: string
  clientSecret: string
  /** Where to ask, if the metadata shall not be asked. */
  endpoint?: string
  /** How the client shows who it is. */
  method?: 'client_secret_basic' | 'client_secret_post'
  /**
   * `client` takes a token that names no subject for one that a client got for itself. Only for an issuer that names the
   * subject in every token of a person: or all people with one client would be taken for the same.
   */
  withoutSubject?: 'refuse' | 'client'
}

type Metadata = Record<string, unknown>

export class Issuer {
  readonly options: IssuerOptions
  readonly keys: KeySet
  readonly #bounds: FetchBounds
  #metadata: Promise<Metadata> | undefined

  constructor(options: IssuerOptions, limits: ResourceServerLimits, bounds: FetchBounds, clock: Clock) {
    secureUrl(options.issuer, 'An issuer')
    for (const url of [options.jwksUri, options.introspection?.endpoint]) if (url !== undefined) secureUrl(url, 'What an issuer serves')
    if (options.algorithms?.some((each) => each === 'none' || each.startsWith('HS')))
      throw new McpError('ERR_DEFINITION', 'Tokens are signed with a key that only the issuer has: not none, not HS256')
    this.options = options
    this.#bounds = bounds
    this.keys = new KeySet(() => this.#loadKeys(), limits, clock)
  }

  /** Something the metadata names; throws when it does not. */
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
    const { status, body } = await fetchJson(url, ACCEPT_JSON, this.#bounds)
    // Where the keys are may have changed too.
    if (status !== 200 || !Array.isArray(body?.keys)) {
      this.#metadata = undefined
      throw new Error(`No keys at ${url}`)
    }
    return body as unknown as JSONWebKeySet
  }

  /** RFC 8414 first, then OpenID Connect; a document that names another issuer is not believed. */
  async #discover(): Promise<Metadata> {
    const { issuer } = this.options
    for (const url of metadataUrls(issuer)) {
      const { status, body } = await fetchJson(url, ACCEPT_JSON, this.#bounds)
      if (status !== 200 || !body) continue
      if (body.issuer !== issuer) throw new Error(`The metadata at ${url} is that of another issuer than ${issuer}`)
      return body
    }
    throw new Error(`No metadata of ${issuer}`)
  }
}

const ACCEPT_JSON: RequestInit = { headers: { accept: 'application/json' } }

function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const inserted = ['oauth-authorization-server', 'openid-configuration'].map((name) => `${origin}/.well-known/${name}${path}`)
  return path === '' ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`]
}
