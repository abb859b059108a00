/** Finds the issuer of a token and checks the token: a JWT with the keys of the issuer, any other by introspection. */

import type { Clock } from '../../../base/clock.ts'
import { checkMembers } from '../../../protocol/check-members.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { TokenClaims } from '../../../protocol/interfaces/access.ts'
import type { Fetch, FetchBounds } from '../fetch-json.ts'
import { MAX_TOKEN_BYTES, type ResourceServerLimits } from '../limits.ts'
import { Introspector } from './introspection.ts'
import { Issuer, type IssuerOptions, issuerFetch } from './issuer.ts'
import { claimedIssuer, readJwt } from './jwt.ts'
import { type ClaimRules, expander, readClaims } from './token-claims.ts'
import { BadToken } from './token-errors.ts'

export interface TokenOptions {
  /** The issuer whose tokens are accepted: its name as in the tokens, or an object with details. */
  issuer?: string | IssuerOptions
  /** Several issuers. */
  issuers?: readonly (string | IssuerOptions)[]
  /** Scopes that imply others: `{ 'notes:write': ['notes:read'] }`. */
  implies?: Readonly<Record<string, readonly string[]>>
  /** The audience of the tokens, for an issuer that cannot use the resource. Default: `resource`. */
  audience?: string
  /** Sends the requests to the issuers. Default: `safeFetch`, which checks addresses. */
  fetch?: Fetch
}

export class TokenReader {
  readonly #issuers = new Map<string, Issuer>()
  readonly #introspection: { issuer: Issuer; introspector: Introspector } | undefined
  readonly #audience: string
  readonly #expand: ClaimRules['expand']
  readonly #limits: ResourceServerLimits

  constructor(options: TokenOptions, resource: string, limits: ResourceServerLimits, clock: Clock) {
    const given = [...(options.issuer === undefined ? [] : [options.issuer]), ...(options.issuers ?? [])]
    if (given.length === 0) throw new McpError('ERR_DEFINITION', 'Expected at least one issuer: resourceServer({ issuer, resource })')
    const boundsFor = ({ issuer, jwksUri, introspection }: IssuerOptions): FetchBounds => ({
      fetch: options.fetch ?? issuerFetch(issuer, [jwksUri, introspection?.endpoint], limits),
      ...limits,
    })
    for (const each of given) {
      const about: IssuerOptions = typeof each === 'string' ? { issuer: each } : each
      checkMembers('issuer', about, { issuer: 1, jwksUri: 1, algorithms: 1, typ: 1, clientIdClaim: 1, introspection: 1 })
      this.#issuers.set(about.issuer, new Issuer(about, boundsFor(about), clock))
    }
    const introspecting = [...this.#issuers.values()].filter(({ options: { introspection } }) => introspection)
    // With two, the tokens of one issuer would be sent to the other.
    if (introspecting.length > 1) throw new McpError('ERR_DEFINITION', 'Only one issuer may have the option introspection')
    const [issuer] = introspecting
    const introspection = issuer?.options.introspection
    this.#introspection = issuer &&
      introspection && { issuer, introspector: new Introspector(issuer, introspection, limits, boundsFor(issuer.options), clock) }
    this.#audience = options.audience ?? resource
    this.#expand = expander(options.implies)
    this.#limits = limits
  }

  get issuers(): string[] {
    return [...this.#issuers.keys()]
  }

  /** Throws `BadToken` or `IssuerUnavailable`. */
  async read(token: string): Promise<TokenClaims> {
    if (token.length > MAX_TOKEN_BYTES) throw new BadToken(`The token is longer than ${MAX_TOKEN_BYTES} bytes`)
    if (/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return this.#readJwt(token)
    if (!this.#introspection) throw new BadToken('The token is not valid')
    const { issuer, introspector } = this.#introspection
    return readClaims(await introspector.read(token), this.#rulesOf(issuer))
  }

  async #readJwt(token: string): Promise<TokenClaims> {
    const issuer = this.#issuers.get(claimedIssuer(token) ?? '')
    if (!issuer) throw new BadToken('The token is from another issuer')
    return readClaims(await readJwt(token, issuer, this.#audience, this.#limits), this.#rulesOf(issuer))
  }

  #rulesOf({ options: { issuer, clientIdClaim = 'client_id' } }: Issuer): ClaimRules {
    return { issuer, audience: this.#audience, clientIdClaim, expand: this.#expand }
  }
}
