/** A protected MCP server as OAuth sees it: takes access tokens that were issued for it, and tells everybody where to get one. */

import { type Clock, systemClock } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import {
  type AuthenticatedCaller,
  type AuthRefusal,
  type HttpAuth,
  isScope,
  type PublicDocument,
  permits,
  type RequestHead,
} from '../../protocol/seams/access.ts'
import { readCredentials } from './authorization-headers.ts'
import { type Challenge, type ChallengeOptions, challengeHeader } from './challenge.ts'
import { sealedNonces } from './dpop/nonces.ts'
import { checkProof, DPOP_ALGORITHMS, type DpopOptions, type ProofRules, type ProofVerdict } from './dpop/proof.ts'
import { memoryReplays } from './dpop/replays.ts'
import type { Fetch } from './fetch-json.ts'
import { DEFAULT_RESOURCE_SERVER_LIMITS, type ResourceServerLimits } from './limits.ts'
import { type MetadataOptions, metadataDocument } from './resource-metadata.ts'
import { canonicalResource, metadataPlaces } from './secure-url.ts'
import type { IssuerOptions } from './tokens/issuer.ts'
import { rememberToken } from './tokens/presented-token.ts'
import { principalOf } from './tokens/token-claims.ts'
import { BadToken, IssuerUnavailable } from './tokens/token-errors.ts'
import { TokenReader } from './tokens/token-reader.ts'

export interface ResourceServerOptions extends MetadataOptions {
  /** The URL of the endpoint as clients know it. Only tokens that were issued for it are taken. */
  resource: string
  /** Whose tokens are taken: the issuer as it stands in them, or more about it. */
  issuer?: string | IssuerOptions
  issuers?: readonly (string | IssuerOptions)[]
  /** Scopes that every request needs; tools, resources and prompts may name more. */
  scopes?: readonly string[]
  /** Broad scopes and what they contain: `{ 'notes:write': ['notes:read'] }`. */
  implies?: Readonly<Record<string, readonly string[]>>
  /** What tokens name as their audience, where the issuer cannot be taught to name the resource. */
  audience?: string
  /** Tokens bound to a key (RFC 9449). They are taken unless this is false. */
  dpop?: DpopOptions | false
  limits?: Partial<ResourceServerLimits>
  /** Reaches the issuers. */
  fetch?: Fetch
  clock?: Clock
}

/** What `auth` of the HTTP handler takes. */
export function resourceServer(options: ResourceServerOptions): HttpAuth {
  return new ResourceServer(options)
}

class ResourceServer implements HttpAuth {
  readonly host: string
  readonly #scopes: readonly string[]
  readonly #challenge: ChallengeOptions
  readonly #tokens: TokenReader
  readonly #proofs: ProofRules | undefined
  readonly #paths: ReadonlySet<string>
  readonly #document: string

  constructor(options: ResourceServerOptions) {
    const { scopes = [], dpop = {}, clock = systemClock } = options
    const limits = { ...DEFAULT_RESOURCE_SERVER_LIMITS, ...options.limits }
    const bad = scopes.find((scope) => !isScope(scope))
    if (bad !== undefined) throw new McpError('ERR_DEFINITION', `Not a scope: ${JSON.stringify(bad)}`)
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
            replays: dpop.replays ?? memoryReplays(limits.maxProofs, clock),
            nonces: dpop.nonces && sealedNonces(dpop.nonces, limits.nonceMs),
          }
    this.#paths = new Set(places.paths)
    this.#document = metadataDocument(options, {
      resource,
      issuers: this.#tokens.issuers,
      scopes,
      dpopAlgorithms: algorithms,
      isDpopRequired: this.#challenge.isDpopRequired,
    })
  }

  async authenticate(knock: RequestHead): Promise<AuthenticatedCaller | AuthRefusal> {
    const credentials = readCredentials(knock)
    if (credentials.kind === 'none') return this.#refuse(401, 'An access token is needed', undefined, { scopes: this.#scopes })
    if (credentials.kind === 'malformed')
      return this.#refuse(400, credentials.message, undefined, { error: 'invalid_request', description: credentials.message })
    const { scheme, token } = credentials
    try {
      const grant = await this.#tokens.read(token)
      const unproved = await this.#judgeBinding(knock, scheme, token, grant.claims.cnf)
      if (unproved) return unproved
      const visitor: AuthenticatedCaller = { principal: principalOf(grant), auth: grant }
      if (!permits(grant, this.#scopes)) return this.forbid([], visitor)
      rememberToken(grant, token)
      return visitor
    } catch (error) {
      if (error instanceof BadToken) return this.#invalidToken(error.message, scheme)
      if (error instanceof IssuerUnavailable) return { status: 503, message: error.message, headers: { 'retry-after': '5' } }
      throw error
    }
  }

  forbid(needed: readonly string[], visitor: AuthenticatedCaller): AuthRefusal {
    const message = 'The access token lacks a scope that this needs'
    const scopes = [...new Set([...this.#scopes, ...needed])]
    const isBound = visitor.auth?.claims.cnf !== undefined
    return this.#refuse(403, message, isBound ? 'DPoP' : 'Bearer', { error: 'insufficient_scope', description: message, scopes })
  }

  document(method: string, path: string): PublicDocument | undefined {
    if (!this.#paths.has(path)) return undefined
    if (method === 'GET' || method === 'HEAD')
      return { status: 200, headers: DOCUMENT_HEADERS, ...(method === 'GET' ? { body: this.#document } : {}) }
    if (method === 'OPTIONS')
      return { status: 204, headers: { ...ANY_ORIGIN, 'access-control-allow-methods': 'GET', 'access-control-allow-headers': '*' } }
    return { status: 405, headers: { allow: 'GET' } }
  }

  /** A token that is bound to a key is worth something only together with a proof made with it. */
  async #judgeBinding(knock: RequestHead, scheme: 'Bearer' | 'DPoP', token: string, cnf: unknown): Promise<AuthRefusal | undefined> {
    const jkt = thumbprintIn(cnf)
    if (cnf !== undefined && jkt === undefined) return this.#invalidToken('The token is bound in a way that is not known here', scheme)
    if (scheme === 'Bearer') {
      if (jkt !== undefined) return this.#invalidToken('The token is bound to a key and needs a DPoP proof', scheme)
      return this.#challenge.isDpopRequired ? this.#invalidToken('Only tokens that are bound to a key are taken', scheme) : undefined
    }
    if (!this.#proofs || jkt === undefined) return this.#invalidToken('The token is not bound to a key', scheme)
    const verdict = await checkProof(knock, token, jkt, this.#proofs)
    return verdict.ok ? undefined : this.#unproved(verdict)
  }

  async #unproved({ error, message }: Exclude<ProofVerdict, { ok: true }>): Promise<AuthRefusal> {
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
