/**
 * What is known about one server: whose tokens it takes, and the tokens. At most one thing is done about them at a time,
 * whatever number of requests need it.
 */

import { safeFetch } from '../fetch/safe-fetch.ts'
import type { TokenStore } from '../store/token-store.ts'
import type { OAuthChallenge } from './discovery/challenge.ts'
import { type Discovery, discover } from './discovery/discover.ts'
import { scopesIn, selectScopes, union } from './discovery/scopes.ts'
import { findServerMetadata, guessedMetadata, type ServerMetadata } from './discovery/server-metadata.ts'
import { rulesFor } from './discovery/urls.ts'
import { authError, isOAuthError } from './errors.ts'
import { DEFAULT_OAUTH_LIMITS, type FetchContext } from './http.ts'
import { authorizationCode } from './login/authorization-code.ts'
import type { OAuthGrant } from './login/oauth-grant.ts'
import type { OAuthOptions } from './options.ts'
import type { ClientIdentity } from './registration/client-authentication.ts'
import { ClientRegistration } from './registration/client-registration.ts'
import { DpopKey } from './tokens/dpop-key.ts'
import { refreshTokens } from './tokens/refresh.ts'
import { revokeTokens } from './tokens/revoke.ts'
import { readRecord, readTokens, storeKey, type Tokens } from './tokens/tokens.ts'

/** Whose tokens they are: kept beside them, to find them again. */
interface Holding {
  issuer: string
  resource: string
  clientId: string
  /** Endpoints by convention. */
  isGuessed: boolean
}

export interface TokenNeed {
  demand: OAuthChallenge
  /** The access token that was refused. */
  spent: string | undefined
  /** Tokens were renewed already, and that did not help. */
  needsLogin: boolean
  /** The protocol version that is spoken, if one is agreed on. */
  version?: string | undefined
}

export type Outcome = 'refreshed' | 'granted'

export class ServerTokens {
  readonly #options: OAuthOptions
  readonly #store: TokenStore
  readonly #server: URL
  readonly #clients: ClientRegistration
  readonly #grant: OAuthGrant
  readonly #keys = new Map<string, Promise<DpopKey>>()
  #holding: Holding | undefined
  #tokens: Tokens | undefined
  #metadata: ServerMetadata | undefined
  /** Everything ever asked for at the issuer: a login asks for no less. */
  #asked: { issuer: string; scopes: string[] } | undefined

  constructor(server: URL, options: OAuthOptions, store: TokenStore) {
    this.#server = server
    this.#options = options
    this.#store = store
    this.#clients = new ClientRegistration(options, store, server)
    this.#grant = options.grant ?? authorizationCode
  }

  get tokens(): Tokens | undefined {
    return this.#tokens
  }

  /** The key that the tokens are bound to; undefined when they are bound to none. */
  async key(): Promise<DpopKey | undefined> {
    return this.#tokens?.type === 'DPoP' && this.#holding ? this.#keyFor(this.#holding) : undefined
  }

  /** Looks whether the store has tokens that are newer than ours. */
  async load(): Promise<void> {
    const holding = readHolding(await this.#store.get(this.#serverName))
    if (!holding) return this.#drop()
    const tokens = readTokens(await this.#store.get(this.#tokensName(holding)))
    // A key that cannot leave a process ends with it, and so do the tokens bound to it.
    if (tokens?.keyThumbprint !== undefined && tokens.keyThumbprint !== (await this.#keyFor(holding)).thumbprint) return this.#drop()
    if (tokens) this.#asked = { issuer: holding.issuer, scopes: union(this.#askedAt(holding.issuer), tokens.asked) }
    this.#holding = holding
    this.#tokens = tokens
  }

  /** New tokens for those we have. False when only a login can help. */
  async refresh(spent: string, signal: AbortSignal): Promise<boolean> {
    const holding = this.#holding
    if (!holding) return false
    const exchange = this.#exchange(signal)
    const metadata = await this.#metadataOf(holding, exchange)
    const client = await this.#clients.known(metadata)
    if (client?.id !== holding.clientId) return false
    const key = this.#tokens?.type === 'DPoP' ? await this.#keyFor(holding) : undefined
    const name = this.#tokensName(holding)
    const { resource } = holding
    const refreshed = await refreshTokens(exchange, { metadata, client, resource, key, store: this.#store, name, spent })
    if (refreshed.kind === 'client-gone') await this.#clients.forget(holding.issuer)
    this.#tokens = refreshed.kind === 'tokens' ? refreshed.tokens : undefined
    return refreshed.kind === 'tokens'
  }

  /** Does what it takes to get tokens that the server will take. */
  async authorize({ demand, spent, needsLogin, version }: TokenNeed, signal: AbortSignal): Promise<Outcome> {
    const exchange = { ...this.#exchange(signal), version }
    const discovery = await this.#discover(demand, exchange)
    const { issuer } = discovery.metadata
    this.#metadata = discovery.metadata
    const isSame = this.#holding?.issuer === issuer && this.#holding.resource === discovery.resource
    const mayRefresh = isSame && !needsLogin && spent !== undefined && demand.error !== 'insufficient_scope'
    if (mayRefresh && (await this.refresh(spent, signal))) return 'refreshed'
    const scopes = selectScopes({
      challenged: scopesIn(demand.scope),
      supported: discovery.scopesSupported,
      before: this.#askedAt(issuer),
      wanted: this.#options.scopes ?? [],
      known: discovery.metadata.scopesSupported,
      mayRefresh: this.#grant.mayRefresh,
    })
    await this.#obtain(discovery, demand, scopes, exchange, signal)
    return 'granted'
  }

  /** Revokes and forgets. */
  async logout(signal: AbortSignal): Promise<void> {
    await this.load()
    const holding = this.#holding
    const tokens = this.#tokens
    this.#drop()
    this.#asked = undefined
    await this.#store.delete(this.#serverName)
    if (!holding) return
    await this.#store.delete(this.#tokensName(holding))
    if (!tokens) return
    const isRevoked = await this.#revoke(holding, tokens, signal).catch(() => false)
    if (!isRevoked)
      this.#options.onWarning?.(`${holding.issuer} could not be told that tokens are no longer needed; they expire by themselves`)
  }

  async #obtain(
    discovery: Discovery,
    demand: OAuthChallenge,
    scopes: string[],
    exchange: FetchContext,
    signal: AbortSignal,
  ): Promise<void> {
    const { metadata, resource } = discovery
    const key = this.#isBound(discovery, demand) ? await this.#keyFor({ issuer: metadata.issuer, resource }) : undefined
    const context = { server: this.#server, discovery, scopes, key, clients: this.#clients, exchange, options: this.#options, signal }
    const { tokens, client } = await this.#grant.obtain(context).catch(async (error: unknown) => {
      if (isOAuthError(error, 'invalid_client')) await this.#clients.forget(metadata.issuer)
      throw error
    })
    await this.#keep(discovery, tokens, client)
  }

  async #keep({ metadata, resource }: Discovery, tokens: Tokens, client: ClientIdentity): Promise<void> {
    const before = this.#holding
    const holding: Holding = { issuer: metadata.issuer, resource, clientId: client.id, isGuessed: metadata.isGuessed }
    const name = this.#tokensName(holding)
    await this.#store.withLock(name, () => this.#store.set(name, JSON.stringify(tokens)))
    await this.#store.set(this.#serverName, JSON.stringify(holding))
    if (before && this.#tokensName(before) !== name) await this.#store.delete(this.#tokensName(before))
    this.#holding = holding
    this.#tokens = tokens
    this.#asked = { issuer: metadata.issuer, scopes: union(this.#askedAt(metadata.issuer), tokens.asked) }
  }

  #discover(demand: OAuthChallenge, exchange: FetchContext): Promise<Discovery> {
    const { allowOtherOrigin = false, allowLegacy = true, issuer, onWarning = () => {} } = this.#options
    return discover(exchange, {
      server: this.#server,
      location: demand.resourceMetadata,
      allowsOtherOrigin: allowOtherOrigin,
      allowsLegacy: allowLegacy,
      preferred: [this.#holding?.issuer, ...this.#clients.issuers, issuer],
      onWarning,
    })
  }

  async #metadataOf({ issuer, isGuessed }: Holding, exchange: FetchContext): Promise<ServerMetadata> {
    if (this.#metadata?.issuer === issuer) return this.#metadata
    if (isGuessed) return guessedMetadata(issuer)
    const metadata = await findServerMetadata(exchange, issuer, rulesFor(this.#server))
    if (!metadata) throw authError('server-metadata', `${issuer} has no metadata any more`)
    this.#metadata = metadata
    return metadata
  }

  async #revoke(holding: Holding, tokens: Tokens, signal: AbortSignal): Promise<boolean> {
    const exchange = this.#exchange(signal)
    const metadata = await this.#metadataOf(holding, exchange)
    const client = await this.#clients.known(metadata)
    return client?.id === holding.clientId && (await revokeTokens(exchange, metadata, client, tokens))
  }

  /** Whether tokens are to be bound to a key. Once they are, they never are not. */
  #isBound({ metadata, requiresDpop }: Discovery, { offersBearer, offersDpop }: OAuthChallenge): boolean {
    const { dpop = 'auto' } = this.#options
    const isAsked = requiresDpop || (offersDpop && !offersBearer)
    if (dpop === 'never') {
      if (isAsked) throw authError('challenge', `${this.#server.origin} takes only tokens that are bound to a key`)
      return false
    }
    const isBound = dpop !== 'auto' || isAsked || this.#tokens?.type === 'DPoP'
    if (isBound && metadata.dpopAlgorithms && !metadata.dpopAlgorithms.includes('ES256')) {
      throw authError('server-metadata', `${metadata.issuer} takes no proofs with ES256 (dpop_signing_alg_values_supported)`)
    }
    return isBound
  }

  #keyFor({ issuer, resource }: { issuer: string; resource: string }): Promise<DpopKey> {
    const name = JSON.stringify([issuer, resource])
    const { dpop } = this.#options
    const key = this.#keys.get(name) ?? DpopKey.create(typeof dpop === 'object' ? dpop : undefined)
    this.#keys.set(name, key)
    return key
  }

  #askedAt(issuer: string): string[] {
    return this.#asked?.issuer === issuer ? this.#asked.scopes : []
  }

  #drop(): void {
    this.#tokens = undefined
    this.#holding = undefined
  }

  #exchange(signal: AbortSignal): FetchContext {
    const limits = { ...DEFAULT_OAUTH_LIMITS, ...this.#options.limits }
    const { maxDocumentBytes, requestTimeoutMs } = limits
    const fetch = safeFetch({
      ...this.#options.network,
      userUrl: this.#server,
      limits: { maxDocumentBytes, fetchTimeoutMs: requestTimeoutMs },
    })
    return { fetch, limits, signal }
  }

  get #serverName(): string {
    return storeKey('server', `${this.#server.origin}${this.#server.pathname}`, this.#options.user ?? '')
  }

  #tokensName({ issuer, resource, clientId }: Holding): string {
    return storeKey('tokens', issuer, resource, clientId, this.#options.user ?? '')
  }
}

function readHolding(text: string | undefined): Holding | undefined {
  const value = readRecord(text)
  const { issuer, resource, clientId } = value ?? {}
  if (typeof issuer !== 'string' || typeof resource !== 'string' || typeof clientId !== 'string') return undefined
  return { issuer, resource, clientId, isGuessed: value?.isGuessed === true }
}
