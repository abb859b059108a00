/** Finds out whose token it is and has it judged in the way its issuer wants. */

import type { Clock } from '../../../base/clock.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { TokenClaims } from '../../../protocol/seams/access.ts'
import type { FetchBounds } from '../fetch-json.ts'
import { issuerFetch } from '../issuer-fetch.ts'
import type { ResourceServerLimits } from '../limits.ts'
import type { ResourceServerOptions } from '../resource-server.ts'
import { Introspector } from './introspection.ts'
import { Issuer, type IssuerOptions } from './issuer.ts'
import { claimedIssuer, readJwt } from './jwt.ts'
import { type ClaimRules, expander, readClaims } from './token-claims.ts'
import { BadToken } from './token-errors.ts'

type Options = Pick<ResourceServerOptions, 'issuer' | 'issuers' | 'audience' | 'implies' | 'fetch'>

export class TokenReader {
  readonly #issuers = new Map<string, Issuer>()
  readonly #introspector: { issuer: Issuer; ask: Introspector } | undefined
  readonly #audience: string
  readonly #expand: ClaimRules['expand']
  readonly #limits: ResourceServerLimits

  constructor(options: Options, resource: string, limits: ResourceServerLimits, clock: Clock) {
    const given = [...(options.issuer === undefined ? [] : [options.issuer]), ...(options.issuers ?? [])]
    if (given.length === 0) throw new McpError('ERR_DEFINITION', 'Say whose tokens are taken: resourceServer({ issuer, resource })')
    const boundsFor = ({ issuer, jwksUri, introspection }: IssuerOptions): FetchBounds => ({
      fetch: options.fetch ?? issuerFetch(issuer, [jwksUri, introspection?.endpoint], limits),
      ...limits,
    })
    for (const each of given) {
      const about: IssuerOptions = typeof each === 'string' ? { issuer: each } : each
      this.#issuers.set(about.issuer, new Issuer(about, limits, boundsFor(about), clock))
    }
    const asked = [...this.#issuers.values()].filter(({ options: { introspection } }) => introspection)
    // With two, the tokens of one would be shown to the other.
    if (asked.length > 1) throw new McpError('ERR_DEFINITION', 'Only one issuer can be asked about opaque tokens')
    const [issuer] = asked
    const introspection = issuer?.options.introspection
    this.#introspector = issuer &&
      introspection && { issuer, ask: new Introspector(issuer, introspection, limits, boundsFor(issuer.options), clock) }
    this.#audience = options.audience ?? resource
    this.#expand = expander(options.implies)
    this.#limits = limits
  }

  get issuers(): string[] {
    return [...this.#issuers.keys()]
  }

  /** Throws `BadToken` or `CannotTell`. */
  async read(token: string): Promise<TokenClaims> {
    if (token.length > this.#limits.maxTokenBytes)
      throw new BadToken(`The token is longer than ${this.#limits.maxTokenBytes} bytes (limits.maxTokenBytes)`)
    if (/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return this.#readJwt(token)
    if (!this.#introspector) throw new BadToken('The token is not valid')
    const { issuer, ask } = this.#introspector
    return readClaims(await ask.read(token), this.#rulesOf(issuer))
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
