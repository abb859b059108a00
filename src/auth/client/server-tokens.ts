/** The tokens of one server: loads, obtains, renews, stores and revokes them. The caller runs one operation at a time. */

import { withDefaults } from '../../protocol/with-defaults.ts'
import { safeFetch } from '../fetch/safe-fetch.ts'
import { readEntry, storeKey, type TokenStore } from '../store/token-store.ts'
import type { OAuthChallenge } from './discovery/challenge.ts'
import { type Discovery, discover } from './discovery/discover.ts'
import { scopesIn, selectScopes, union } from './discovery/scopes.ts'
import { findServerMetadata, guessedMetadata, type ServerMetadata } from './discovery/server-metadata.ts'
import { rulesFor } from './discovery/urls.ts'
import { authError, isOAuthError } from './errors.ts'
import { DEFAULT_OAUTH_LIMITS, type FetchContext } from './fetch-json.ts'
import { authorizationCode } from './login/authorization-code.ts'
import type { OAuthGrant } from './login/oauth-grant.ts'
import type { OAuthOptions } from './options.ts'
import type { ClientIdentity } from './registration/client-authentication.ts'
import { ClientRegistration } from './registration/client-registration.ts'
import { DpopKey } from './tokens/dpop-key.ts'
import { refreshTokens } from './tokens/refresh.ts'
import { revokeTokens } from './tokens/revoke.ts'
import { readTokens, type Tokens } from './tokens/tokens.ts'

/** Where the tokens of a server come from. Stored under the URL of the server, to find the entry of the tokens. */
interface TokenSource {
  issuer: string
  resource: string
  clientId: string
  /** The authorization server has no metadata. */
  isGuessed: boolean
}

export interface TokenNeed {
  challenge: OAuthChallenge
  refusedToken: string | undefined
  /** True if renewed tokens were refused too. */
  needsLogin: boolean
  /** The negotiated protocol version. */
  version?: string | undefined
}

/** `refreshed`: with a refresh token. `granted`: with a login or another grant. */
export type Outcome = 'refreshed' | 'granted'

export class ServerTokens {
  readonly #options: OAuthOptions
  readonly #store: TokenStore
  readonly #server: URL
  readonly #registration: ClientRegistration
  readonly #grant: OAuthGrant
  readonly #keys = new Map<string, Promise<DpopKey>>()
  #source: TokenSource | undefined
  #tokens: Tokens | undefined
  #metadata: ServerMetadata | undefined
  /** All scopes that were ever requested from the issuer. A login requests them again. */
  #requested: { issuer: string; scopes: string[] } | undefined

  constructor(server: URL, options: OAuthOptions, store: TokenStore) {
    this.#server = server
    this.#options = options
    this.#store = store
    this.#registration = new ClientRegistration(options, store, server)
    this.#grant = options.grant ?? authorizationCode
  }

  get tokens(): Tokens | undefined {
    return this.#tokens
  }

  /** The key that the tokens are bound to; undefined for bearer tokens. */
  async key(): Promise<DpopKey | undefined> {
    return this.#tokens?.type === 'DPoP' && this.#source ? this.#keyFor(this.#source) : undefined
  }

  /** Reads the tokens from the store: another process may have changed them. */
  async load(): Promise<void> {
    const source = readTokenSource(await this.#store.get(this.#serverName))
    if (!source) return this.#clear()
    const tokens = readTokens(await this.#store.get(this.#tokensName(source)))
    // The key of an earlier process is lost, so the tokens that are bound to it cannot be used.
    if (tokens?.keyThumbprint !== undefined && tokens.keyThumbprint !== (await this.#keyFor(source)).thumbprint) return this.#clear()
    if (tokens) this.#requested = { issuer: source.issuer, scopes: union(this.#requestedFrom(source.issuer), tokens.asked) }
    this.#source = source
    this.#tokens = tokens
  }

  /** Renews the tokens. False if a login is needed. */
  async refresh(refusedToken: string, signal: AbortSignal): Promise<boolean> {
    const source = this.#source
    if (!source) return false
    const http = this.#httpFor(signal)
    const metadata = await this.#metadataOf(source, http)
    const client = await this.#registration.known(metadata)
    if (client?.id !== source.clientId) return false
    const key = this.#tokens?.type === 'DPoP' ? await this.#keyFor(source) : undefined
    const name = this.#tokensName(source)
    const { resource } = source
    const refreshed = await refreshTokens(http, { metadata, client, resource, key, store: this.#store, name, refusedToken })
    if (refreshed.kind === 'client-gone') await this.#registration.forget(source.issuer)
    this.#tokens = refreshed.kind === 'tokens' ? refreshed.tokens : undefined
    return refreshed.kind === 'tokens'
  }

  /** Renews the tokens if possible, else obtains new ones with the grant. */
  async authorize({ challenge, refusedToken, needsLogin, version }: TokenNeed, signal: AbortSignal): Promise<Outcome> {
    const http = { ...this.#httpFor(signal), version }
    const discovery = await this.#discover(challenge, http)
    const { issuer } = discovery.metadata
    this.#metadata = discovery.metadata
    const isSame = this.#source?.issuer === issuer && this.#source.resource === discovery.resource
    const mayRefresh = isSame && !needsLogin && refusedToken !== undefined && challenge.error !== 'insufficient_scope'
    if (mayRefresh && (await this.refresh(refusedToken, signal))) return 'refreshed'
    const scopes = selectScopes({
      challenged: scopesIn(challenge.scope),
      supported: discovery.scopesSupported,
      before: this.#requestedFrom(issuer),
      wanted: this.#options.scopes ?? [],
      known: discovery.metadata.scopesSupported,
      mayRefresh: this.#grant.mayRefresh,
    })
    await this.#obtain(discovery, challenge, scopes, http, signal)
    return 'granted'
  }

  /** Revokes the tokens and removes them from the store. */
  async logout(signal: AbortSignal): Promise<void> {
    await this.load()
    const source = this.#source
    const tokens = this.#tokens
    this.#clear()
    this.#requested = undefined
    await this.#store.delete(this.#serverName)
    if (!source) return
    await this.#store.delete(this.#tokensName(source))
    if (!tokens) return
    const isRevoked = await this.#revoke(source, tokens, signal).catch(() => false)
    if (!isRevoked) this.#options.onWarning?.(`${source.issuer} did not revoke all tokens. They stay valid until they expire`)
  }

  async #obtain(discovery: Discovery, challenge: OAuthChallenge, scopes: string[], http: FetchContext, signal: AbortSignal): Promise<void> {
    const { metadata, resource } = discovery
    const key = this.#needsBinding(discovery, challenge) ? await this.#keyFor({ issuer: metadata.issuer, resource }) : undefined
    const context = { server: this.#server, discovery, scopes, key, registration: this.#registration, http, options: this.#options, signal }
    const { tokens, client } = await this.#grant.obtain(context).catch(async (error: unknown) => {
      if (isOAuthError(error, 'invalid_client')) await this.#registration.forget(metadata.issuer)
      throw error
    })
    await this.#save(discovery, tokens, client)
  }

  async #save({ metadata, resource }: Discovery, tokens: Tokens, client: ClientIdentity): Promise<void> {
    const before = this.#source
    const source: TokenSource = { issuer: metadata.issuer, resource, clientId: client.id, isGuessed: metadata.isGuessed }
    const name = this.#tokensName(source)
    await this.#store.withLock(name, () => this.#store.set(name, JSON.stringify(tokens)))
    await this.#store.set(this.#serverName, JSON.stringify(source))
    if (before && this.#tokensName(before) !== name) await this.#store.delete(this.#tokensName(before))
    this.#source = source
    this.#tokens = tokens
    this.#requested = { issuer: metadata.issuer, scopes: union(this.#requestedFrom(metadata.issuer), tokens.asked) }
  }

  #discover(challenge: OAuthChallenge, http: FetchContext): Promise<Discovery> {
    const { allowOtherOrigin = false, allowLegacy = true, issuer, onWarning = () => {} } = this.#options
    return discover(http, {
      server: this.#server,
      location: challenge.resourceMetadata,
      allowsOtherOrigin: allowOtherOrigin,
      allowsLegacy: allowLegacy && !challenge.isOther,
      preferred: [this.#source?.issuer, ...this.#registration.issuers, issuer],
      onWarning,
    })
  }

  async #metadataOf({ issuer, isGuessed }: TokenSource, http: FetchContext): Promise<ServerMetadata> {
    if (this.#metadata?.issuer === issuer) return this.#metadata
    if (isGuessed) return guessedMetadata(issuer)
    const looked = await findServerMetadata(http, issuer, rulesFor(this.#server))
    if (looked.kind !== 'found') throw authError('server-metadata', `${issuer} no longer publishes its metadata`)
    this.#metadata = looked.metadata
    return looked.metadata
  }

  async #revoke(source: TokenSource, tokens: Tokens, signal: AbortSignal): Promise<boolean> {
    const http = this.#httpFor(signal)
    const metadata = await this.#metadataOf(source, http)
    const client = await this.#registration.known(metadata)
    return client?.id === source.clientId && (await revokeTokens(http, metadata, client, tokens))
  }

  /** Whether to bind tokens to a key. Bound tokens are replaced by bearer tokens only if the option `dpop` is `never`. */
  #needsBinding({ metadata, requiresDpop }: Discovery, { offersBearer, offersDpop }: OAuthChallenge): boolean {
    const { dpop = 'auto' } = this.#options
    const isRequired = requiresDpop || (offersDpop && !offersBearer)
    if (dpop === 'never') {
      if (isRequired)
        throw authError('challenge', `${this.#server.origin} requires tokens that are bound to a key, but the option dpop is never`)
      return false
    }
    const isBound = dpop !== 'auto' || isRequired || this.#tokens?.type === 'DPoP'
    if (isBound && metadata.dpopAlgorithms && !metadata.dpopAlgorithms.includes('ES256')) {
      throw authError('server-metadata', `${metadata.issuer} does not support DPoP proofs with ES256 (dpop_signing_alg_values_supported)`)
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

  #requestedFrom(issuer: string): string[] {
    return this.#requested?.issuer === issuer ? this.#requested.scopes : []
  }

  #clear(): void {
    this.#tokens = undefined
    this.#source = undefined
  }

  #httpFor(signal: AbortSignal): FetchContext {
    const limits = withDefaults(DEFAULT_OAUTH_LIMITS, this.#options.limits)
    const fetch = safeFetch({
      ...this.#options.network,
      userUrl: this.#server,
      limits: { fetchTimeoutMs: limits.requestTimeoutMs },
    })
    return { fetch, limits, signal }
  }

  get #serverName(): string {
    return storeKey('server', `${this.#server.origin}${this.#server.pathname}`, this.#options.user ?? '')
  }

  #tokensName({ issuer, resource, clientId }: TokenSource): string {
    return storeKey('tokens', issuer, resource, clientId, this.#options.user ?? '')
  }
}

function readTokenSource(text: string | undefined): TokenSource | undefined {
  const value = readEntry(text)
  const { issuer, resource, clientId } = value ?? {}
  if (typeof issuer !== 'string' || typeof resource !== 'string' || typeof clientId !== 'string') return undefined
  return { issuer, resource, clientId, isGuessed: value?.isGuessed === true }
}
