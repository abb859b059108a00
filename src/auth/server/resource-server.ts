/** A protected MCP server in OAuth terms: accepts access tokens that were issued for it, and tells clients where to get one. */

import { type Clock, systemClock } from '../../base/clock.ts'
import { checkMembers, type Members } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import {
  type AuthenticatedCaller,
  type AuthRefusal,
  type HttpAuth,
  isScope,
  type PublicDocument,
  permits,
  type RequestHead,
} from '../../protocol/interfaces/access.ts'
import type { Counters } from '../../protocol/interfaces/counters.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { type Challenge, type ChallengeOptions, challengeHeader, readCredentials } from './authorization-headers.ts'
import { sealedNonces } from './dpop/nonces.ts'
import { checkProof, DPOP_ALGORITHMS, type DpopOptions, type ProofRules, type ProofVerdict } from './dpop/proof.ts'
import { memoryReplays } from './dpop/replays.ts'
import { DEFAULT_RESOURCE_SERVER_LIMITS, MAX_PROOFS, type ResourceServerLimits } from './limits.ts'
import { canonicalResource, type MetadataOptions, metadataDocument, metadataPlaces } from './resource-metadata.ts'
import { rememberToken } from './tokens/remembered-token.ts'
import { principalOf } from './tokens/token-claims.ts'
import { BadToken, IssuerUnavailable } from './tokens/token-errors.ts'
import { type TokenOptions, TokenReader } from './tokens/token-reader.ts'

/** Options for `resourceServer`. */
export interface ResourceServerOptions extends MetadataOptions, TokenOptions {
  /** The public URL of the endpoint. Only tokens that were issued for it are accepted. */
  resource: string
  /** Scopes that every request needs. Tools, resources and prompts may require more. */
  scopes?: readonly string[]
  /** Options for tokens that are bound to a key (DPoP, RFC 9449), or false to refuse them. Default: accepted, not required. */
  dpop?: DpopOptions | false
  /** Limits that differ from `DEFAULT_RESOURCE_SERVER_LIMITS`. */
  limits?: Partial<ResourceServerLimits>
  /** The clock for expiry. Default: the system clock. */
  clock?: Clock
}

const MEMBERS: Members<ResourceServerOptions> = {
  issuer: 1,
  issuers: 1,
  resource: 1,
  scopes: 1,
  scopesSupported: 1,
  implies: 1,
  audience: 1,
  name: 1,
  documentation: 1,
  dpop: 1,
  fetch: 1,
  limits: 1,
  clock: 1,
}

/**
 * Protects a server with access tokens: the `auth` option of `listen` and `httpHandler`.
 *
 * @example
 * ```ts
 * const auth = resourceServer({ issuer: 'https://login.example.com', resource: 'https://mcp.example.com/mcp', scopes: ['notes:read'] })
 * const { url } = await listen(server, { auth })
 * ```
 */
export function resourceServer(options: ResourceServerOptions): HttpAuth {
  checkMembers('resourceServer', options, MEMBERS)
  checkMembers('dpop', options.dpop || {}, { required: 1, nonces: 1, replays: 1, algorithms: 1 })
  return new ResourceServer(options)
}

class ResourceServer implements HttpAuth {
  readonly host: string
  readonly #scopes: readonly string[]
  readonly #challenge: ChallengeOptions
  readonly #tokens: TokenReader
  readonly #proofs: ProofRules | undefined
  /** The option for used proofs is set. */
  readonly #hasOwnReplays: boolean
  readonly #paths: ReadonlySet<string>
  readonly #document: string

  constructor(options: ResourceServerOptions) {
    const { scopes = [], dpop = {}, clock = systemClock } = options
    const limits = withDefaults(DEFAULT_RESOURCE_SERVER_LIMITS, options.limits)
    const bad = scopes.find((scope) => !isScope(scope))
    if (bad !== undefined) throw new McpError('ERR_DEFINITION', `Not a valid scope: ${JSON.stringify(bad)}`)
    const resource = canonicalResource(options.resource)
    const places = metadataPlaces(resource)
    const algorithms = dpop === false ? undefined : (dpop.algorithms ?? DPOP_ALGORITHMS)
    this.host = new URL(resource).host
    this.#scopes = scopes
    this.#tokens = new TokenReader(options, resource, limits, clock)
    this.#challenge = { metadataUrl: places.url, dpopAlgorithms: algorithms, isDpopRequired: dpop !== false && dpop.required === true }
    this.#proofs =
      dpop === false || !algorithms
        ? undefined
        : {
            resource,
            algorithms,
            limits,
            replays: dpop.replays ?? memoryReplays(MAX_PROOFS, clock),
            nonces: dpop.nonces && sealedNonces(dpop.nonces),
          }
    this.#hasOwnReplays = dpop !== false && dpop.replays !== undefined
    this.#paths = new Set(places.paths)
    this.#document = metadataDocument(options, {
      resource,
      issuers: this.#tokens.issuers,
      scopes,
      dpopAlgorithms: algorithms,
      isDpopRequired: this.#challenge.isDpopRequired,
    })
  }

  async authenticate(head: RequestHead): Promise<AuthenticatedCaller | AuthRefusal> {
    const credentials = readCredentials(head)
    if (credentials.kind === 'none') return this.#refuse(401, 'An access token is required', undefined, { scopes: this.#scopes })
    if (credentials.kind === 'malformed')
      return this.#refuse(400, credentials.message, undefined, { error: 'invalid_request', description: credentials.message })
    const { scheme, token } = credentials
    try {
      const claims = await this.#tokens.read(token)
      const refusal = await this.#checkBinding(head, scheme, token, claims.claims.cnf)
      if (refusal) return refusal
      const caller: AuthenticatedCaller = { principal: principalOf(claims), auth: claims }
      if (!permits(claims, this.#scopes)) return this.forbid([], caller)
      rememberToken(claims, token)
      return caller
    } catch (error) {
      if (error instanceof BadToken) return this.#invalidToken(error.message, scheme)
      if (error instanceof IssuerUnavailable) return { status: 503, message: error.message, headers: { 'retry-after': '5' } }
      throw error
    }
  }

  forbid(needed: readonly string[], caller: AuthenticatedCaller): AuthRefusal {
    const message = 'The access token lacks a required scope'
    const scopes = [...new Set([...this.#scopes, ...needed])]
    const isBound = caller.auth?.claims.cnf !== undefined
    return this.#refuse(403, message, isBound ? 'DPoP' : 'Bearer', { error: 'insufficient_scope', description: message, scopes })
  }

  shareWith(counters: Pick<Counters, 'first'>): void {
    if (this.#proofs && !this.#hasOwnReplays)
      this.#proofs.replays = { isFirst: (id, ttlMs) => counters.first(`dpop ${this.#challenge.metadataUrl} ${id}`, ttlMs) }
  }

  document(method: string, path: string): PublicDocument | undefined {
    if (!this.#paths.has(path)) return undefined
    if (method === 'GET' || method === 'HEAD')
      return { status: 200, headers: DOCUMENT_HEADERS, ...(method === 'GET' ? { body: this.#document } : {}) }
    if (method === 'OPTIONS')
      return { status: 204, headers: { ...ANY_ORIGIN, 'access-control-allow-methods': 'GET', 'access-control-allow-headers': '*' } }
    return { status: 405, headers: { allow: 'GET' } }
  }

  /** Checks that a bound token comes with a proof of its key, and that an unbound one is acceptable. */
  async #checkBinding(head: RequestHead, scheme: 'Bearer' | 'DPoP', token: string, cnf: unknown): Promise<AuthRefusal | undefined> {
    const jkt = thumbprintIn(cnf)
    if (cnf !== undefined && jkt === undefined) return this.#invalidToken('The token is bound in an unsupported way', scheme)
    if (scheme === 'Bearer') {
      if (jkt !== undefined) return this.#invalidToken('The token is bound to a key and needs a DPoP proof', scheme)
      return this.#challenge.isDpopRequired ? this.#invalidToken('Only tokens that are bound to a key are accepted', scheme) : undefined
    }
    if (!this.#proofs || jkt === undefined) return this.#invalidToken('The token is not bound to a key', scheme)
    const verdict = await checkProof(head, token, jkt, this.#proofs)
    return verdict.ok ? undefined : this.#refuseProof(verdict)
  }

  async #refuseProof({ error, message }: Exclude<ProofVerdict, { ok: true }>): Promise<AuthRefusal> {
    if (error === 'unavailable') return { status: 503, message, headers: { 'retry-after': '5' } }
    const refused = this.#refuse(401, message, 'DPoP', { error, description: message })
    const nonce = await this.#proofs?.nonces?.make()
    return nonce === undefined ? refused : { ...refused, headers: { ...refused.headers, 'dpop-nonce': nonce } }
  }

  #invalidToken(description: string, scheme: 'Bearer' | 'DPoP'): AuthRefusal {
    return this.#refuse(401, description, scheme, { error: 'invalid_token', description, scopes: this.#scopes })
  }

  #refuse(status: AuthRefusal['status'], message: string, used: 'Bearer' | 'DPoP' | undefined, challenge: Challenge): AuthRefusal {
    return { status, message, headers: { 'www-authenticate': challengeHeader(challenge, used, this.#challenge) } }
  }
}

const ANY_ORIGIN = { 'access-control-allow-origin': '*' }
const DOCUMENT_HEADERS = { ...ANY_ORIGIN, 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' }

function thumbprintIn(cnf: unknown): string | undefined {
  if (typeof cnf !== 'object' || cnf === null) return undefined
  const { jkt, ...others } = cnf as Record<string, unknown>
  return typeof jkt === 'string' && Object.keys(others).length === 0 ? jkt : undefined
}
