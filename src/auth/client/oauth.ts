/** Permission for requests, got and kept by itself: what a client over HTTP is given to log in with. */

import type { Authorizer, Refusal, SentRequest } from '../../protocol/seams/authorizer.ts'
import { memoryTokenStore, type TokenStore } from '../store/token-store.ts'
import { type OAuthChallenge, oauthChallengeOf, parseChallenges } from './discovery/challenge.ts'
import { includesAll, scopesIn } from './discovery/scopes.ts'
import { isPrivateWay } from './discovery/urls.ts'
import { authError } from './errors.ts'
import type { OAuthOptions } from './options.ts'
import { type Outcome, ServerTokens } from './server-tokens.ts'
import { SharedWork } from './shared-work.ts'
import { isExpired, isFresh } from './tokens/tokens.ts'

export interface OAuth extends Authorizer {
  /** Gets tokens before they are asked for, if there are none. */
  login(server: string | URL, options?: { signal?: AbortSignal }): Promise<void>
  /** Tells the authorization server that the tokens are no longer needed, and forgets them. */
  logout(server: string | URL, options?: { signal?: AbortSignal }): Promise<void>
}

/** Logs in when a server asks for it, and keeps the tokens fresh. One will do for any number of servers. */
export function oauth(options: OAuthOptions = {}): OAuth {
  const store = options.store ?? memoryTokenStore()
  const keepers = new Map<string, ServerAuthorization>()
  const keeperFor = (url: string | URL): ServerAuthorization => {
    const server = new URL(url)
    const name = `${server.origin}${server.pathname}`
    const keeper = keepers.get(name) ?? new ServerAuthorization(server, options, store)
    keepers.set(name, keeper)
    return keeper
  }
  const extension = options.grant?.extension
  return {
    ...(extension !== undefined && { extensions: { [extension]: {} } }),
    headers: (request) => keeperFor(request.server).headers(request),
    onUnauthorized: (refusal) => keeperFor(refusal.request.server).onUnauthorized(refusal),
    onResponse: (request, headers) => keepers.get(`${request.server.origin}${request.server.pathname}`)?.onResponse(request.url, headers),
    login: (server, { signal } = {}) => keeperFor(server).login(signal),
    logout: (server, { signal } = {}) => keeperFor(server).logout(signal),
  }
}

/** How long an operation that was refused in spite of more scopes is not helped again. */
const STEP_UP_PAUSE_MS = 10 * 60_000
const MAX_OPERATIONS = 256
const NOTHING_ASKED: OAuthChallenge = {
  offersBearer: true,
  offersDpop: false,
  resourceMetadata: undefined,
  scope: undefined,
  error: undefined,
}

/** What has been done for one request. */
interface Help {
  wasRefreshed: boolean
  wasGranted: boolean
}

/** The permission of one server. */
class ServerAuthorization {
  readonly #server: URL
  readonly #account: ServerTokens
  /** What has been done for a request that was refused; it goes with the request. */
  readonly #helped = new WeakMap<SentRequest, Help>()
  /** When more scopes were last got for an operation. */
  readonly #stepUps = new Map<string, number>()
  #loading: Promise<void> | undefined
  /** The one thing that is being done. */
  #work: SharedWork<Outcome | undefined> | undefined

  constructor(server: URL, options: OAuthOptions, store: TokenStore) {
    this.#server = server
    this.#account = new ServerTokens(server, options, store)
  }

  async headers(request: SentRequest): Promise<Record<string, string>> {
    if (!isPrivateWay(request.url) || request.url.origin !== this.#server.origin) return {}
    this.#loading ??= this.#account.load()
    await this.#loading.catch((error: unknown) => {
      // A store that cannot be read now may be mended.
      this.#loading = undefined
      throw error
    })
    await this.#renewInTime(request.signal)
    const { tokens } = this.#account
    if (!tokens || isExpired(tokens)) return {}
    const authorization = `${tokens.type} ${tokens.accessToken}`
    const key = await this.#account.key()
    if (!key) return { authorization }
    const proof = await key.prove({ method: request.method, url: request.url.href, accessToken: tokens.accessToken })
    return { authorization, dpop: proof }
  }

  async onUnauthorized({ request, status, headers, sent }: Refusal): Promise<boolean> {
    if (!isPrivateWay(request.url)) return false
    const demand = oauthChallengeOf(parseChallenges(headers['www-authenticate']))
    const key = await this.#account.key()
    key?.note(request.url.href, single(headers['dpop-nonce']))
    if (demand.error === 'use_dpop_nonce' && key && sent.dpop !== undefined) return key.hasNewerNonce(request.url.href, sent.dpop)
    const spent = sent.authorization?.split(' ', 2)[1]
    if (status === 403) return this.#stepUp(request, demand, spent)
    const help = this.#helped.get(request) ?? { wasRefreshed: false, wasGranted: false }
    this.#helped.set(request, help)
    if (await this.#hasOther(spent)) return true
    if (help.wasGranted) return false
    const got = await this.#share(request.signal, (signal) =>
      this.#account.authorize({ demand, spent, needsLogin: help.wasRefreshed, version: request.version }, signal),
    )
    if (got === 'granted') help.wasGranted = true
    else help.wasRefreshed = true
    return true
  }

  onResponse(url: URL, headers: Refusal['headers']): void {
    const nonce = single(headers['dpop-nonce'])
    if (nonce !== undefined) void this.#account.key().then((key) => key?.note(url.href, nonce))
  }

  async login(signal: AbortSignal | undefined): Promise<void> {
    await this.#account.load()
    const { tokens } = this.#account
    if (tokens && isFresh(tokens)) return
    await this.#share(signal, (over) =>
      this.#account.authorize({ demand: NOTHING_ASKED, spent: tokens?.accessToken, needsLogin: false }, over),
    )
  }

  async logout(signal: AbortSignal | undefined): Promise<void> {
    await this.#work?.done
    await this.#account.logout(signal ?? new AbortController().signal)
  }

  /** Tokens that are about to expire are renewed before they are refused. */
  async #renewInTime(signal: AbortSignal | undefined): Promise<void> {
    const { tokens } = this.#account
    if (tokens?.refreshToken === undefined || isFresh(tokens)) return
    try {
      await this.#share(signal, async (over) => {
        await this.#account.refresh(tokens.accessToken, over)
        return undefined
      })
    } catch (error) {
      // It is good for a little longer.
      if (signal?.aborted || isExpired(tokens)) throw error
    }
  }

  /** Whether there are other tokens than those that were refused: got by another request, or by another process. */
  async #hasOther(spent: string | undefined): Promise<boolean> {
    if (this.#work) return false
    await this.#account.load()
    const { tokens } = this.#account
    return tokens !== undefined && tokens.accessToken !== spent && isFresh(tokens)
  }

  /** @see the specification, Step-Up Authorization Flow */
  async #stepUp(request: SentRequest, demand: OAuthChallenge, spent: string | undefined): Promise<boolean> {
    if (demand.error !== 'insufficient_scope') return false
    const needed = scopesIn(demand.scope)
    while (this.#work) await this.#work.done
    const { tokens } = this.#account
    const isEnough = tokens !== undefined && includesAll(tokens.scopes, needed)
    if (isEnough && tokens.accessToken !== spent) return true
    if (isEnough || this.#wasSteppedUp(request.operation)) {
      const what = needed.length > 0 ? `the scopes ${needed.join(' ')}` : 'more scopes'
      throw authError('scope', `${this.#server.origin} wants ${what} for ${request.operation}, and refuses also what was got for that`)
    }
    this.#stepUps.set(request.operation, performance.now())
    const { version } = request
    await this.#share(request.signal, (signal) => this.#account.authorize({ demand, spent, needsLogin: true, version }, signal))
    return true
  }

  #wasSteppedUp(operation: string): boolean {
    const at = this.#stepUps.get(operation)
    if (at !== undefined && performance.now() - at < STEP_UP_PAUSE_MS) return true
    for (const oldest of this.#stepUps.keys()) if (this.#stepUps.size >= MAX_OPERATIONS) this.#stepUps.delete(oldest)
    return false
  }

  /** Waits for what is being done, or does it. */
  async #share(signal: AbortSignal | undefined, run: (signal: AbortSignal) => Promise<Outcome | undefined>): Promise<Outcome | undefined> {
    while (this.#work?.isGivenUp) await this.#work.done
    if (!this.#work) {
      const work = new SharedWork(run)
      this.#work = work
      work.done.then(() => {
        if (this.#work === work) this.#work = undefined
      })
    }
    return this.#work.join(signal)
  }
}

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)
