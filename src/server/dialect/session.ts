/** The session dialect: `initialize` opens a session, and its result holds until the session ends. */

import { randomId } from '../../base/bytes.ts'
import { isObject } from '../../base/json.ts'
import type { JsonRpcEndpoint } from '../../jsonrpc/json-rpc-endpoint.ts'
import type { Id, Params } from '../../jsonrpc/message.ts'
import type { Outlet } from '../../jsonrpc/outlet.ts'
import { notificationJson, requestJson } from '../../jsonrpc/write.ts'
import { McpError, type UrlElicitationRequired } from '../../protocol/errors.ts'
import { type Access, demand, permits, type TokenClaims } from '../../protocol/interfaces/access.ts'
import type { Change } from '../../protocol/interfaces/replaceable-services.ts'
import type { SessionState, SharedSession } from '../../protocol/interfaces/service.ts'
import type { Implementation } from '../../protocol/model/base.ts'
import type { ClientCapabilities } from '../../protocol/model/lifecycle.ts'
import type { LogLevel } from '../../protocol/model/logging.ts'
import type { TraceContext } from '../../protocol/model/trace-context.ts'
import { type SubscriptionBounds, subscriptionBounds, weightOf } from '../../protocol/subscription-bounds.ts'
import type { Revision } from '../../revisions/revision.ts'
import { notFound, readUri } from '../features/resources.ts'
import type { Caller, Dialect, IncomingCall } from '../incoming-call.ts'
import type { Asker } from '../input/asker.ts'
import { LiveAsker } from '../input/live.ts'
import type { Question } from '../input/question.ts'
import { targetOf } from '../middleware.ts'
import type { Quota } from '../quota.ts'
import type { ServerState } from '../server-state.ts'
import { changeNotice, covers, maxSubscriptionChars, tooLong, tooMany, wantedChanges } from '../subscriptions.ts'

export interface SessionOptions {
  serverState: ServerState
  peer: JsonRpcEndpoint
  /** The outlet for messages that belong to no request. */
  outlet: Outlet
  quota(): Quota
  principal: string | undefined
  isPrivate: boolean
  shared?: SharedSession | undefined
  revision: Revision
  /** Undefined if the revision was assumed, without a handshake. */
  capabilities: ClientCapabilities | undefined
  client: Implementation | undefined
}

/** Whoever subscribed, as far as change notices need it. */
type Subscriber = Pick<TokenClaims, 'scopes'> | null | undefined

/** Longer answers to roots/list are not kept: the client is asked each time. */
const MAX_KEPT_ROOTS_CHARS = 16 * 1024

type Sendable = Pick<Question, 'request' | 'elicitationId' | 'until'>

export class Session implements Dialect {
  readonly revision: Revision
  readonly #options: SessionOptions
  readonly #caller: Omit<Caller, 'auth'>
  /** Subscribed URIs, each with the scopes of its subscriber. Not with its claims: each request may bring a large token of its own. */
  #subscriptions: Map<string, Subscriber> | undefined
  /** The total length of the subscribed URIs. */
  #subscribedLength = 0
  /** Where they are counted: requests of one session may come from several addresses. */
  #countedFor: string | undefined
  #counted = 0
  /** Questions that wait for `notifications/initialized`. */
  #onReady: { resolve: () => void; reject: (error: McpError) => void }[] | undefined
  #isReady = false
  #logLevel: LogLevel
  /** The last answer to roots/list as JSON, if the client sends change notices. Text takes less memory than many small values. */
  #roots: string | undefined
  /** The number of change notices for roots. An answer to an older request is not kept. */
  #rootsChanges = 0
  #scopes: readonly string[] | undefined

  constructor(options: SessionOptions) {
    const { serverState, principal, client, capabilities = {}, revision } = options
    this.#options = options
    this.revision = revision
    this.#caller = { principal, client, capabilities, revision: revision.version }
    const { state } = options.shared ?? {}
    this.#isReady = state?.isReady ?? false
    this.#logLevel = state?.logLevel ?? serverState.logging.defaultLevel
    this.#scopes = state?.scopes
    // The transport passes changes on to sessions that are shared.
    if (!options.shared) serverState.changeListeners.add(this)
  }

  caller(): Omit<Caller, 'auth'> {
    return this.#caller
  }

  get isPrivate(): boolean {
    return this.#options.isPrivate
  }

  logLevel(): LogLevel {
    return this.#logLevel
  }

  asker(call: IncomingCall): Asker {
    return new LiveAsker({
      name: targetOf(call),
      capabilities: this.#options.capabilities,
      journal: this.#options.shared?.journal,
      send: (question, name) => this.#send(question, name, call),
    })
  }

  method(call: IncomingCall): Params | Promise<Params> | undefined {
    switch (call.method) {
      case 'ping':
        return {}
      case 'logging/setLevel':
        return this.#setLevel(this.#options.serverState.logging.readLevel(call.params))
      case 'resources/subscribe':
        return this.#subscribe(readUri(call.params), call.access)
      case 'resources/unsubscribe':
        return this.#unsubscribe(readUri(call.params))
      case 'initialize':
        throw new McpError('ERR_INVALID_REQUEST', 'The session is already initialized')
      default:
        return undefined
    }
  }

  requirePages(call: IncomingCall, error: UrlElicitationRequired): Promise<Params> {
    if (this.revision.hasUrlElicitationError && isObject(this.#caller.capabilities.elicitation?.url)) {
      return Promise.all(error.pages.map(({ elicitationId }) => this.#openPage(elicitationId))).then(() => {
        throw error
      })
    }
    return pagesAsText(call, error)
  }

  /** The client has received our answer to initialize, so it may be asked now. */
  onInitialized(): void {
    this.#isReady = true
    for (const { resolve } of this.#onReady ?? []) resolve()
    this.#onReady = undefined
  }

  onRootsChanged(): void {
    this.#rootsChanges++
    this.#roots = undefined
  }

  /** Sends change notices when the scopes of the caller changed, because it then sees other lists. */
  onAccess(access: Access): void {
    if (!access) return
    const before = this.#scopes
    if (areEqual(before, access.scopes)) return
    this.#scopes = access.scopes
    // The other replicas compare with these from now on. Their next request tells the client if this fails.
    void this.#options.shared
      ?.change((state) => {
        state.scopes = access.scopes
      })
      .catch(() => {})
    if (!before) return
    const { tools, prompts, resources } = this.#options.serverState
    if (tools.hasScopes) void this.tell({ kind: 'tools' })
    if (prompts.hasScopes) void this.tell({ kind: 'prompts' })
    if (resources.hasScopes) void this.tell({ kind: 'resources' })
  }

  /** Sends a ping outside of any request of the client. */
  async ping(timeoutMs: number): Promise<void> {
    const { peer, outlet } = this.#options
    const id = peer.takeId()
    const limits = { timeoutMs, maxTotalMs: timeoutMs }
    await peer.request(id, 'ping', requestJson(id, 'ping', undefined), { write: (json) => void outlet.push(json), ...limits })
  }

  log(json: (minimum: LogLevel, quota: Quota) => string | undefined): void {
    if (!this.#isReady || this.#options.shared) return
    const text = json(this.#logLevel, this.#options.quota())
    if (text !== undefined) void this.#options.outlet.push(text)
  }

  close(): void {
    const { changeListeners, subscriptionCounts } = this.#options.serverState
    changeListeners.delete(this)
    this.#subscriptions = undefined
    subscriptionCounts.give(this.#countedFor, this.#counted)
    this.#counted = 0
    for (const { reject } of this.#onReady ?? []) reject(new McpError('ERR_CLOSED', 'The session ended before the client was ready'))
    this.#onReady = undefined
  }

  #setLevel(level: LogLevel): Params | Promise<Params> {
    this.#logLevel = level
    return this.#change((state) => {
      state.logLevel = level
    })
  }

  /** Does nothing where this process alone has the session. */
  #change(apply: (state: SessionState) => void, bounds?: SubscriptionBounds): Params | Promise<Params> {
    const { shared } = this.#options
    return shared ? shared.change(apply, bounds).then(() => ({})) : {}
  }

  #subscribe(uri: string, access: Access): Params | Promise<Params> {
    const { serverState, outlet, shared } = this.#options
    // Change notices cannot be sent on this transport, and the capability was not declared.
    if (outlet.canPush === false) throw new McpError('ERR_METHOD_NOT_FOUND', 'Method not found: resources/subscribe')
    if (!serverState.resources.find(uri)) throw notFound(uri)
    demand(access, serverState.resources.scopesOf(uri))
    if (shared) return this.#subscribeShared(uri, access)
    const subscriptions = this.#subscriptions ?? new Map<string, Subscriber>()
    this.#subscriptions = subscriptions
    if (subscriptions.size >= serverState.limits.maxSubscriptions && !subscriptions.has(uri))
      throw tooMany(serverState.limits.maxSubscriptions)
    if (!subscriptions.has(uri)) {
      const max = maxSubscriptionChars(serverState.limits)
      if (this.#subscribedLength + uri.length > max) throw tooLong(max)
      if (subscriptions.size === 0) this.#countedFor = this.#options.quota().taskAccount
      this.#counted += serverState.subscriptionCounts.take(this.#countedFor, [uri])
      this.#subscribedLength += uri.length
    }
    // Equal scopes are kept once. Those of the session may be of a newer request.
    subscriptions.set(uri, access && { scopes: areEqual(this.#scopes, access.scopes) ? this.#scopes : access.scopes })
    return {}
  }

  #subscribeShared(uri: string, access: Access): Params | Promise<Params> {
    const { limits } = this.#options.serverState
    return this.#change(({ subscriptions }) => {
      const others = Object.keys(subscriptions).filter((each) => each !== uri)
      if (others.length >= limits.maxSubscriptions) throw tooMany(limits.maxSubscriptions)
      const max = maxSubscriptionChars(limits)
      if (others.join('').length + uri.length > max) throw tooLong(max)
      subscriptions[uri] = access?.scopes ?? []
    }, subscriptionBounds(limits.maxSubscriptions))
  }

  #unsubscribe(uri: string): Params | Promise<Params> {
    if (this.#subscriptions?.delete(uri)) {
      this.#subscribedLength -= uri.length
      this.#counted -= weightOf(uri)
      this.#options.serverState.subscriptionCounts.give(this.#countedFor, weightOf(uri))
    }
    return this.#change(({ subscriptions }) => {
      delete subscriptions[uri]
    })
  }

  tell(change: Change): undefined | Promise<void> {
    if (!this.#isReady) return undefined
    if (change.kind === 'resource' && !this.#hears(change.uri)) return undefined
    const { method, params } = changeNotice(change)
    if (change.kind !== 'extension') return this.#notify(method, params)
    const isKnown = this.#options.serverState.additions.some(({ id, isIn }) => id === change.id && isIn(this.revision))
    return isKnown ? this.#push(method, params) : undefined
  }

  wanted(): Change[] {
    const { serverState } = this.#options
    return wantedChanges((kind) => serverState[kind].isOffered, this.#subscriptions?.keys() ?? [])
  }

  /** A resource below a subscribed one may need other scopes than that one. */
  #hears(changed: string): boolean {
    const { resources } = this.#options.serverState
    const own = this.#subscriptions?.get(changed)
    if (own && permits(own, resources.scopesOf(changed))) return true
    for (const [uri, access] of this.#subscriptions ?? []) {
      if (covers(uri, changed) && permits(access, resources.scopesOf(changed))) return true
    }
    return false
  }

  #notify(method: string, params: Params | undefined): undefined | Promise<void> {
    return this.revision.has(method) ? this.#push(method, params && this.revision.downgradeParams(method, params)) : undefined
  }

  /** For notifications of extensions, too, which the revision does not name. */
  notify(method: string, params: Params): void {
    void this.#push(method, this.revision.downgradeParams(method, params))
  }

  #push(method: string, params: Params | undefined): undefined | Promise<void> {
    return this.#options.outlet.push(notificationJson(method, params))
  }

  /** Notifies the client when the person has finished. Other replicas may hear of it first. */
  async #openPage(elicitationId: string): Promise<void> {
    const { shared, serverState } = this.#options
    const method = 'notifications/elicitation/complete'
    if (!shared) serverState.openPages.add(elicitationId, () => void this.#notify(method, { elicitationId }))
    else if (this.revision.has(method))
      await shared.openPage(elicitationId, notificationJson(method, this.revision.downgradeParams(method, { elicitationId })))
  }

  async #send(question: Sendable, name: string, call: IncomingCall): Promise<Params> {
    const { journal } = this.#options.shared ?? {}
    if (journal) return journal.ask(name, question.request, (id, isSent) => this.#request(question, call, id, isSent))
    if (question.request.method !== 'roots/list') return this.#request(question, call)
    // The answer is kept only if the client sends change notices.
    if (!this.#caller.capabilities.roots?.listChanged) return this.#request(question, call)
    if (this.#roots !== undefined) return JSON.parse(this.#roots) as Params
    // Each call asks separately, because a question belongs to the stream of its call.
    const changes = this.#rootsChanges
    const answer = await this.#request(question, call)
    if (changes !== this.#rootsChanges) return answer
    const json = JSON.stringify(answer)
    this.#roots = json.length <= MAX_KEPT_ROOTS_CHARS ? json : undefined
    return answer
  }

  /** @param isSent a run before has sent the question, and only its answer is missing */
  async #request(question: Sendable, call: IncomingCall, given?: string, isSent = false): Promise<Params> {
    const { serverState, peer } = this.#options
    if (call.exchange.outlet.canPush === false)
      throw new McpError('ERR_ASK', 'The client cannot be asked: its request is answered with JSON, not with a stream')
    if (!this.#isReady) await this.#becomingReady()
    const { method } = question.request
    const isNewPage = !isSent && question.request.method === 'elicitation/create' && question.request.params.mode === 'url'
    const params = isNewPage ? await this.#withId(question) : (question.request.params as Params | undefined)
    const timeoutMs = question.until ? Number.POSITIVE_INFINITY : serverState.limits.askTimeoutMs
    const ask = (trace?: TraceContext, onSent?: (id: Id) => void): Promise<Params> => {
      const traced = trace ? { ...params, _meta: { ...(params?._meta as Params | undefined), ...trace } } : params
      const fitted = traced && this.revision.downgradeParams(method, traced)
      const named = given ?? call.exchange.outlet.questionId?.()
      const id = named ?? peer.takeId()
      onSent?.(id)
      return peer.request(id, method, requestJson(id, method, fitted), {
        write: isSent ? () => {} : (json) => void call.exchange.push(json, named),
        signal: question.until ?? call.exchange.signal,
        timeoutMs,
        maxTotalMs: timeoutMs,
        onGiveUp: (given, reason) => void call.exchange.push(notificationJson('notifications/cancelled', { requestId: given, reason })),
      })
    }
    // The span of a question belongs to the run that sent it.
    const around = isSent ? undefined : serverState.aroundQuestion
    const result = await (around ? around({ method, params: params ?? {}, revision: this.revision.version, url: undefined }, ask) : ask())
    return this.revision.upgradeResult(method, result, params ?? {})
  }

  #becomingReady(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onReady ??= []
      this.#onReady.push({ resolve, reject })
    })
  }

  /** Gives a page an id, so that the client can be notified when the person has finished. */
  async #withId({ request, elicitationId = randomId() }: Sendable): Promise<Params> {
    await this.#openPage(elicitationId)
    return { ...request.params, elicitationId }
  }
}

const areEqual = (kept: readonly string[] | undefined, scopes: readonly string[]): kept is readonly string[] =>
  kept?.length === scopes.length && kept.every((scope, i) => scope === scopes[i])

/** Older revisions have no code for pages, so the URL is in the text of the result. */
export function pagesAsText(call: IncomingCall, error: UrlElicitationRequired): Promise<Params> {
  if (call.method === 'tools/call') return Promise.resolve({ content: [{ type: 'text', text: error.message }], isError: true })
  throw new McpError('ERR_INTERNAL', error.message)
}
