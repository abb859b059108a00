/**
 * Uses a person's account at a third party. The server is an OAuth client there with its own tokens, which MCP clients never
 * see. The person connects the account in a browser, on a page that only they can use.
 */

import { BoundedMap } from '../../../base/bounded-map.ts'
import { checkMembers, type Members } from '../../../protocol/check-members.ts'
import { McpError, UrlElicitationRequired } from '../../../protocol/errors.ts'
import type { TokenClaims } from '../../../protocol/interfaces/access.ts'
import { basicCredentials, randomSecret, sha256 } from '../../oauth-crypto.ts'
import { type LockingStore, withSharedLock } from '../../store/shared-lock.ts'
import { type Fetch, type FetchBounds, fetchFromIssuer } from '../fetch-json.ts'
import { DEFAULT_RESOURCE_SERVER_LIMITS } from '../limits.ts'
import { type PersonPages, type PersonPagesOptions, personPages } from '../person-pages/person-pages.ts'
import type { Invited } from '../person-pages/visits.ts'
import { secureUrl } from '../secure-url.ts'

/** The tokens of a connected account. */
export interface Account {
  accessToken: string
  refreshToken?: string
  /** When the access token expires, in milliseconds since 1970. Undefined if the third party did not say. */
  expiresAt?: number
}

/** Stores connected accounts. They are secrets: a store on a disk or in a database must encrypt them. */
export interface AccountStore {
  get(owner: Invited): Account | undefined | Promise<Account | undefined>
  set(owner: Invited, account: Account): void | Promise<void>
  delete(owner: Invited): void | Promise<void>
}

/**
 * Stores accounts in memory. A full store drops the account that was changed longest ago.
 *
 * @example
 * ```ts
 * const calendar = thirdParty({ ...options, accounts: memoryAccounts(500) })
 * ```
 */
export function memoryAccounts(maxAccounts = 10_000): AccountStore {
  const accounts = new BoundedMap<string, Account>(maxAccounts)
  return {
    get: (owner) => accounts.get(ownerKey(owner)),
    set: (owner, account) => void accounts.set(ownerKey(owner), account),
    delete: (owner) => void accounts.delete(ownerKey(owner)),
  }
}

/** Includes the client: an account that a person connected for one application is not available to another. */
const ownerKey = ({ issuer, subject, clientId }: Invited): string => JSON.stringify([issuer, subject, clientId])

/** Options for `thirdParty`. */
export interface ThirdPartyOptions extends Pick<PersonPagesOptions, 'url' | 'whoIs' | 'login' | 'visits' | 'ttlMs' | 'onError'> {
  /** The name of the third party for people. */
  name: string
  /** The URL of the login page of the third party. */
  authorizationEndpoint: string
  /** The URL that issues the tokens of the third party. */
  tokenEndpoint: string
  /** The client of this server at the third party. Its redirect URI must be `<url>/callback`. */
  clientId: string
  /** The secret of this client. */
  clientSecret: string
  /** The scopes to request. Default: none, the third party decides. */
  scopes?: readonly string[]
  /** The issuer of the third party, compared with the `iss` parameter of its responses (RFC 9207). */
  issuer?: string
  /** Where accounts are stored. Default: in memory. */
  accounts?: AccountStore
  /** Lets replicas that share `accounts` renew a token one at a time: a store of portico/redis or portico/store. */
  store?: LockingStore
  /** Called when an account was connected. Pass the id to `server.completeElicitation`. */
  onConnected?(elicitationId: string): void
  /** Makes the requests. Default: the `fetch` of the runtime. */
  fetch?: Fetch
}

/** The accounts of callers at a third party. `thirdParty` creates it. */
export interface ThirdParty {
  /**
   * The third party's access token for the caller. Never show it. If the account is not connected, throws the error that sends
   * the person to the page: do not catch it.
   */
  tokenFor(auth: TokenClaims | undefined): Promise<string>
  /** Removes the account of the caller. */
  disconnect(auth: TokenClaims): Promise<void>
  /** Serves the pages at `url` and below. */
  fetch(request: Request): Promise<Response>
}

/** A token is renewed this long before it expires, because it must still be valid when it arrives. */
const MARGIN_MS = 30_000
/** How long to wait for another replica that renews the same token. */
const RENEWAL_MS = 30_000

const MEMBERS: Members<ThirdPartyOptions> = {
  name: 1,
  url: 1,
  authorizationEndpoint: 1,
  tokenEndpoint: 1,
  clientId: 1,
  clientSecret: 1,
  scopes: 1,
  issuer: 1,
  accounts: 1,
  store: 1,
  whoIs: 1,
  login: 1,
  visits: 1,
  ttlMs: 1,
  fetch: 1,
  onConnected: 1,
  onError: 1,
}

/**
 * Connects accounts of people at a third party.
 *
 * @example
 * ```ts
 * const calendar = thirdParty({ name: 'Calendar', url: 'https://mcp.example.com/connect', authorizationEndpoint, tokenEndpoint, clientId, clientSecret, whoIs, login })
 * server.tool('events', {}, async (_args, { caller }) => listEvents(await calendar.tokenFor(caller.auth)))
 * ```
 */
export function thirdParty(options: ThirdPartyOptions): ThirdParty {
  checkMembers('thirdParty', options, MEMBERS)
  return new OAuthThirdParty(options)
}

class OAuthThirdParty implements ThirdParty {
  readonly #options: ThirdPartyOptions
  readonly #accounts: AccountStore
  readonly #pages: PersonPages
  readonly #bounds: FetchBounds
  /** One renewal at a time for each person: a rotating refresh token works only once. */
  readonly #refreshing = new Map<string, Promise<Account | undefined>>()

  constructor(options: ThirdPartyOptions) {
    for (const url of [options.authorizationEndpoint, options.tokenEndpoint]) secureUrl(url, `An endpoint of ${options.name}`)
    this.#options = options
    this.#accounts = options.accounts ?? memoryAccounts()
    this.#bounds = { ...DEFAULT_RESOURCE_SERVER_LIMITS, fetch: options.fetch ?? ((url, init) => fetch(url, init)) }
    const { url, whoIs, login, visits, ttlMs, onError } = options
    this.#pages = personPages({
      url,
      whoIs,
      login,
      visits,
      ttlMs,
      onError,
      question: () => `May this server use your ${options.name} account on your behalf?`,
      details: ({ returnTo }) => this.#details(returnTo),
      leave: (visit) => this.#leave(visit.state, visit.returnTo),
      finish: (visit) => this.#finish(visit),
    })
  }

  fetch(request: Request): Promise<Response> {
    return this.#pages.fetch(request)
  }

  async tokenFor(auth: TokenClaims | undefined): Promise<string> {
    if (!auth) throw new McpError('ERR_UNSUPPORTED', 'Connecting an account needs a caller with an access token')
    const account = await this.#current(auth)
    if (account) return account.accessToken
    const { url, elicitationId } = await this.#pages.invite(auth)
    throw new UrlElicitationRequired([{ message: `Connect your ${this.#options.name} account`, url, elicitationId }])
  }

  async disconnect(auth: TokenClaims): Promise<void> {
    await this.#accounts.delete(auth)
  }

  async #current(auth: TokenClaims): Promise<Account | undefined> {
    const account = await this.#accounts.get(auth)
    if (!account || isFresh(account)) return account
    const key = ownerKey(auth)
    let refreshing = this.#refreshing.get(key)
    if (!refreshing) {
      refreshing = this.#inTurn(auth, key, account).finally(() => this.#refreshing.delete(key))
      this.#refreshing.set(key, refreshing)
    }
    return refreshing
  }

  /** Replicas that share the accounts renew a token one at a time, and the others use what the first one got. */
  #inTurn(auth: TokenClaims, key: string, account: Account): Promise<Account | undefined> {
    const { store, name } = this.#options
    if (!store) return this.#refresh(auth, account)
    return withSharedLock(store, `account ${name} ${key}`, RENEWAL_MS, async () => {
      const kept = await this.#accounts.get(auth)
      return !kept || isFresh(kept) ? kept : this.#refresh(auth, kept)
    })
  }

  async #refresh(auth: TokenClaims, { refreshToken }: Account): Promise<Account | undefined> {
    if (refreshToken === undefined) return undefined
    const { status, body } = await this.#post({ grant_type: 'refresh_token', refresh_token: refreshToken })
    // The refresh token was not refused, so the account stays connected.
    if (status >= 500 || status === 429)
      throw new McpError('ERR_HTTP', `${this.#options.name} could not renew the token: status ${status}`, { data: { status } })
    const fresh = readAccount(body)
    if (!fresh) {
      await this.#accounts.delete(auth)
      return undefined
    }
    const account = { refreshToken, ...fresh }
    await this.#accounts.set(auth, account)
    return account
  }

  /** Sentences for the consent page: the permissions, the site that the person is sent to, and the page that they come back to. */
  #details(returnTo: string): string[] {
    const { name, scopes = [], authorizationEndpoint } = this.#options
    const permissions = scopes.length === 0 ? `the default permissions of ${name}` : scopes.join(', ')
    return [
      `It will ask ${name} (${new URL(authorizationEndpoint).host}) for: ${permissions}.`,
      `${name} will send you back to ${returnTo}.`,
    ]
  }

  async #leave(state: string, returnTo: string): Promise<{ url: string; data: Record<string, string> }> {
    const { authorizationEndpoint, clientId, scopes = [] } = this.#options
    const verifier = randomSecret()
    const url = new URL(authorizationEndpoint)
    const params: Record<string, string> = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: returnTo,
      state,
      code_challenge: await sha256(verifier),
      code_challenge_method: 'S256',
    }
    if (scopes.length > 0) params.scope = scopes.join(' ')
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
    return { url: url.href, data: { verifier, returnTo } }
  }

  async #finish({ invited, elicitationId, data, query }: Parameters<PersonPagesOptions['finish']>[0]): Promise<void> {
    const { issuer, name, onConnected } = this.#options
    const iss = query.get('iss')
    if (issuer !== undefined && iss !== null && iss !== issuer)
      throw new Error(`The response does not come from ${name}: its iss parameter differs`)
    const code = query.get('code')
    if (code === null) throw new Error(`${name} returned no code`)
    const { returnTo = '', verifier = '' } = data
    const { body } = await this.#post({ grant_type: 'authorization_code', code, redirect_uri: returnTo, code_verifier: verifier })
    const account = readAccount(body)
    if (!account) throw new Error(`${name} returned no token`)
    await this.#accounts.set(invited, account)
    onConnected?.(elicitationId)
  }

  #post(params: Record<string, string>): ReturnType<typeof fetchFromIssuer> {
    const { tokenEndpoint, clientId, clientSecret } = this.#options
    const headers = {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      authorization: basicCredentials(clientId, clientSecret),
    }
    return fetchFromIssuer(tokenEndpoint, { method: 'POST', headers, body: new URLSearchParams(params).toString() }, this.#bounds)
  }
}

/** Whether the token need not be renewed yet. */
const isFresh = ({ expiresAt }: Account): boolean => expiresAt === undefined || expiresAt - MARGIN_MS > Date.now()

/** Undefined if the response contains no token. The status is ignored: some third parties report errors with 200. */
function readAccount(body: Record<string, unknown> | undefined): Account | undefined {
  if (typeof body?.access_token !== 'string' || body.error !== undefined) return undefined
  const account: Account = { accessToken: body.access_token }
  if (typeof body.refresh_token === 'string') account.refreshToken = body.refresh_token
  if (typeof body.expires_in === 'number') account.expiresAt = Date.now() + body.expires_in * 1000
  return account
}
