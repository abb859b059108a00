/** The authorization of requests to one server: adds tokens, renews them in time, and logs in when a request is refused. */

import { SharedWork } from '../../base/shared-work.ts'
import type { Refusal, SentRequest } from '../../protocol/interfaces/authorizer.ts'
import type { TokenStore } from '../store/token-store.ts'
import { type OAuthChallenge, oauthChallengeOf, parseChallenges } from './discovery/challenge.ts'
import { includesAll, scopesIn } from './discovery/scopes.ts'
import { isSecureUrl } from './discovery/urls.ts'
import { authError, isUnannounced } from './errors.ts'
import type { OAuthOptions } from './options.ts'
import { type Outcome, ServerTokens, type TokenNeed } from './server-tokens.ts'
import { isExpired, isFresh } from './tokens/tokens.ts'

/** How long to wait before an operation that was refused in spite of more scopes may cause another login. */
const STEP_UP_PAUSE_MS = 10 * 60_000
/** The operations whose last step-up is remembered: a server offers few that need more scopes. */
const MAX_OPERATIONS = 256
const NO_CHALLENGE: OAuthChallenge = {
  offersBearer: true,
  offersDpop: false,
  isOther: false,
  resourceMetadata: undefined,
  scope: undefined,
  error: undefined,
}

/** The attempts made so far for one request. */
interface Attempts {
  wasRefreshed: boolean
  wasGranted: boolean
}

export class ServerAuthorization {
  readonly #server: URL
  readonly #serverTokens: ServerTokens
  readonly #onWarning: OAuthOptions['onWarning']
  readonly #attempts = new WeakMap<SentRequest, Attempts>()
  /** When more scopes were last requested for an operation. */
  readonly #stepUps = new Map<string, number>()
  #loading: Promise<void> | undefined
  /** The running login or renewal. There is at most one. */
  #work: SharedWork<Outcome | undefined> | undefined

  constructor(server: URL, options: OAuthOptions, store: TokenStore) {
    this.#server = server
    this.#onWarning = options.onWarning
    this.#serverTokens = new ServerTokens(server, options, store)
  }

  async headers(request: SentRequest): Promise<Record<string, string>> {
    if (!isSecureUrl(request.url) || request.url.origin !== this.#server.origin) return {}
    this.#loading ??= this.#serverTokens.load()
    await this.#loading.catch((error: unknown) => {
      // The next request tries again: the store may be readable by then.
      this.#loading = undefined
      throw error
    })
    await this.#renewInTime(request.signal)
    const { tokens } = this.#serverTokens
    if (!tokens || isExpired(tokens)) return {}
    const authorization = `${tokens.type} ${tokens.accessToken}`
    const key = await this.#serverTokens.key()
    if (!key) return { authorization }
    const proof = await key.prove({ method: request.method, url: request.url.href, accessToken: tokens.accessToken })
    return { authorization, dpop: proof }
  }

  async onUnauthorized({ request, status, headers, sent }: Refusal): Promise<boolean> {
    if (!isSecureUrl(request.url)) return false
    const challenge = oauthChallengeOf(parseChallenges(headers['www-authenticate']))
    const key = await this.#serverTokens.key()
    key?.rememberNonce(request.url.href, firstOf(headers['dpop-nonce']))
    if (challenge.error === 'use_dpop_nonce' && key && sent.dpop !== undefined) return key.hasNewerNonce(request.url.href, sent.dpop)
    const refusedToken = sent.authorization?.split(' ', 2)[1]
    if (status === 403) return this.#stepUp(request, challenge, refusedToken)
    const attempts = this.#attempts.get(request) ?? { wasRefreshed: false, wasGranted: false }
    this.#attempts.set(request, attempts)
    if (await this.#hasOtherTokens(refusedToken)) return true
    if (attempts.wasGranted) return false
    const need = { challenge, refusedToken, needsLogin: attempts.wasRefreshed, version: request.version }
    const outcome = await this.#authorize(need, request.signal)
    if (outcome === 'unannounced') return false
    if (outcome === 'granted') attempts.wasGranted = true
    else attempts.wasRefreshed = true
    return true
  }

  onResponse(url: URL, headers: Refusal['headers']): void {
    const nonce = firstOf(headers['dpop-nonce'])
    if (nonce !== undefined) void this.#serverTokens.key().then((key) => key?.rememberNonce(url.href, nonce))
  }

  async login(signal: AbortSignal | undefined): Promise<void> {
    await this.#serverTokens.load()
    const { tokens } = this.#serverTokens
    if (tokens && isFresh(tokens)) return
    const need = { challenge: NO_CHALLENGE, refusedToken: tokens?.accessToken, needsLogin: false }
    await this.#share(signal, (shared) => this.#serverTokens.authorize(need, shared))
  }

  async logout(signal: AbortSignal | undefined): Promise<void> {
    await this.#work?.done
    await this.#serverTokens.logout(signal ?? new AbortController().signal)
  }

  /** Renews tokens shortly before they expire, so that no request is refused for that. */
  async #renewInTime(signal: AbortSignal | undefined): Promise<void> {
    const { tokens } = this.#serverTokens
    if (tokens?.refreshToken === undefined || isFresh(tokens)) return
    try {
      await this.#share(signal, async (shared) => {
        await this.#serverTokens.refresh(tokens.accessToken, shared)
        return undefined
      })
    } catch (error) {
      // Until the token expires, the request can still use it.
      if (signal?.aborted || isExpired(tokens)) throw error
    }
  }

  /** Whether there are newer tokens than the refused one, from another request or another process. */
  async #hasOtherTokens(refusedToken: string | undefined): Promise<boolean> {
    if (this.#work) return false
    await this.#serverTokens.load()
    const { tokens } = this.#serverTokens
    return tokens !== undefined && tokens.accessToken !== refusedToken && isFresh(tokens)
  }

  /** The specification, Step-Up Authorization Flow: one login for more scopes per operation. */
  async #stepUp(request: SentRequest, challenge: OAuthChallenge, refusedToken: string | undefined): Promise<boolean> {
    if (challenge.error !== 'insufficient_scope') return false
    const needed = scopesIn(challenge.scope)
    while (this.#work) await this.#work.done
    const { tokens } = this.#serverTokens
    const isEnough = tokens !== undefined && includesAll(tokens.scopes, needed)
    if (isEnough && tokens.accessToken !== refusedToken) return true
    if (isEnough || this.#wasSteppedUp(request.operation)) {
      const what = needed.length > 0 ? `the scopes ${needed.join(' ')}` : 'more scopes'
      throw authError(
        'scope',
        `${this.#server.origin} requires ${what} for ${request.operation}, and refuses the token that was obtained for it`,
      )
    }
    this.#stepUps.set(request.operation, performance.now())
    const need = { challenge, refusedToken, needsLogin: true, version: request.version }
    return (await this.#authorize(need, request.signal)) !== 'unannounced'
  }

  /** Returns `unannounced` if there is no login. The caller then gets the refusal of the server, which says what it wants. */
  #authorize(need: TokenNeed, signal: AbortSignal): Promise<Outcome | 'unannounced' | undefined> {
    return this.#share(signal, (shared) => this.#serverTokens.authorize(need, shared)).catch((error: unknown) => {
      if (!isUnannounced(error)) throw error
      this.#onWarning?.(error.message)
      return 'unannounced' as const
    })
  }

  #wasSteppedUp(operation: string): boolean {
    const at = this.#stepUps.get(operation)
    if (at !== undefined && performance.now() - at < STEP_UP_PAUSE_MS) return true
    for (const oldest of this.#stepUps.keys()) if (this.#stepUps.size >= MAX_OPERATIONS) this.#stepUps.delete(oldest)
    return false
  }

  /** Joins the running login or renewal, or starts one. */
  async #share(signal: AbortSignal | undefined, run: (signal: AbortSignal) => Promise<Outcome | undefined>): Promise<Outcome | undefined> {
    while (this.#work?.isAborted) await this.#work.done
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

const firstOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)
