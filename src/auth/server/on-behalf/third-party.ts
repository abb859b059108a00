/**
 * Somebody's account elsewhere, used on their behalf: the server is a client there, with a token of its own that no MCP
 * client ever sees. The person connects the account in their browser, on pages that are theirs alone.
 */

import { toBase64Url } from '../../../base/bytes.ts'
import { McpError, UrlElicitationRequired } from '../../../protocol/errors.ts'
import type { TokenClaims } from '../../../protocol/seams/access.ts'
import { type Account, type AccountStore, memoryAccounts } from '../accounts.ts'
import { type Fetch, type FetchBounds, fetchJson } from '../fetch-json.ts'
import { DEFAULT_RESOURCE_SERVER_LIMITS } from '../limits.ts'
import { type PersonPages, type PersonPagesOptions, personPages } from '../person-pages/person-pages.ts'
import { secureUrl } from '../secure-url.ts'
import { basic, digest } from '../tokens/introspection.ts'

export interface ThirdPartyOptions extends Pick<PersonPagesOptions, 'url' | 'whoIs' | 'login' | 'visits' | 'ttlMs' | 'onError'> {
  /** What it is called, for people. */
  name: string
  authorizationEndpoint: string
  tokenEndpoint: string
  /** The client that this server is there. `<url>/callback` must be registered as its redirect URI. */
  clientId: string
  clientSecret: string
  scopes?: readonly string[]
  /** Checked where it answers with its name (RFC 9207). */
  issuer?: string
  accounts?: AccountStore
  /** Somebody has connected their account; `server.completeElicitation` wants to know. */
  onConnected?(elicitationId: string): void
  fetch?: Fetch
}

export interface ThirdParty {
  /**
   * The third party's token for the caller, to be used and not to be shown. Throws what sends the person to connect their
   * account first, in the way that the caller's revision has for it.
   */
  tokenFor(auth: TokenClaims | undefined): Promise<string>
  /** Forgets the account of the caller. */
  disconnect(auth: TokenClaims): Promise<void>
  /** Answers what browsers ask at `url` and below. */
  fetch(request: Request): Promise<Response>
}

const MARGIN_MS = 30_000

export function thirdParty(options: ThirdPartyOptions): ThirdParty {
  return new OAuthThirdParty(options)
}

class OAuthThirdParty implements ThirdParty {
  readonly #options: ThirdPartyOptions
  readonly #accounts: AccountStore
  readonly #pages: PersonPages
  readonly #bounds: FetchBounds
  /** One refresh at a time for each person: a refresh token that rotates works once. */
  readonly #refreshing = new Map<string, Promise<Account | undefined>>()

  constructor(options: ThirdPartyOptions) {
    for (const url of [options.authorizationEndpoint, options.tokenEndpoint]) secureUrl(url, `An endpoint of ${options.name}`)
    this.#options = options
    this.#accounts = options.accounts ?? memoryAccounts()
    this.#bounds = { ...DEFAULT_RESOURCE_SERVER_LIMITS, fetch: options.fetch ?? ((url, init) => fetch(url, init)) }
    this.#pages = personPages({
      ...options,
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
    if (!auth) throw new McpError('ERR_UNSUPPORTED', 'Only a caller with a token has an account to connect')
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
    if (!account || account.expiresAt === undefined || account.expiresAt - MARGIN_MS > Date.now()) return account
    const key = JSON.stringify([auth.issuer, auth.subject, auth.clientId])
    let refreshing = this.#refreshing.get(key)
    if (!refreshing) {
      refreshing = this.#refresh(auth, account).finally(() => this.#refreshing.delete(key))
      this.#refreshing.set(key, refreshing)
    }
    return refreshing
  }

  async #refresh(auth: TokenClaims, { refreshToken }: Account): Promise<Account | undefined> {
    if (refreshToken === undefined) return undefined
    const { status, body } = await this.#ask({ grant_type: 'refresh_token', refresh_token: refreshToken })
    // It has not judged the refresh token, so the account stays.
    if (status >= 500 || status === 429) throw new McpError('ERR_HTTP', `${this.#options.name} does not answer`, { data: { status } })
    const fresh = readAccount(body)
    if (!fresh) {
      await this.#accounts.delete(auth)
      return undefined
    }
    const account = { refreshToken, ...fresh }
    await this.#accounts.set(auth, account)
    return account
  }

  /** What the person agrees to: what may be done, where they are sent, and where they come back to. */
  #details(returnTo: string): string[] {
    const { name, scopes = [], authorizationEndpoint } = this.#options
    const permissions = scopes.length === 0 ? `what ${name} gives by default` : scopes.join(', ')
    return [
      `It will ask ${name} (${new URL(authorizationEndpoint).host}) for: ${permissions}.`,
      `${name} will send you back to ${returnTo}.`,
    ]
  }

  async #leave(state: string, returnTo: string): Promise<{ url: string; data: Record<string, string> }> {
    const { authorizationEndpoint, clientId, scopes = [] } = this.#options
    const verifier = toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
    const url = new URL(authorizationEndpoint)
    const params: Record<string, string> = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: returnTo,
      state,
      code_challenge: await digest(verifier),
      code_challenge_method: 'S256',
    }
    if (scopes.length > 0) params.scope = scopes.join(' ')
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
    return { url: url.href, data: { verifier, returnTo } }
  }

  async #finish({ invited, elicitationId, data, query }: Parameters<PersonPagesOptions['finish']>[0]): Promise<void> {
    const { issuer, name, onConnected } = this.#options
    const iss = query.get('iss')
    if (issuer !== undefined && iss !== null && iss !== issuer) throw new Error(`The answer is not from ${name}`)
    const code = query.get('code')
    if (code === null) throw new Error(`${name} did not agree`)
    const { returnTo = '', verifier = '' } = data
    const { body } = await this.#ask({ grant_type: 'authorization_code', code, redirect_uri: returnTo, code_verifier: verifier })
    const account = readAccount(body)
    if (!account) throw new Error(`${name} gave no token`)
    await this.#accounts.set(invited, account)
    onConnected?.(elicitationId)
  }

  #ask(params: Record<string, string>): ReturnType<typeof fetchJson> {
    const { tokenEndpoint, clientId, clientSecret } = this.#options
    const headers = {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      authorization: basic(clientId, clientSecret),
    }
    return fetchJson(tokenEndpoint, { method: 'POST', headers, body: new URLSearchParams(params).toString() }, this.#bounds)
  }
}

/** Undefined for an answer without a token, whatever its status: some say 200 to an error. */
function readAccount(body: Record<string, unknown> | undefined): Account | undefined {
  if (typeof body?.access_token !== 'string' || body.error !== undefined) return undefined
  const account: Account = { accessToken: body.access_token }
  if (typeof body.refresh_token === 'string') account.refreshToken = body.refresh_token
  if (typeof body.expires_in === 'number') account.expiresAt = Date.now() + body.expires_in * 1000
  return account
}
