/** The MCP endpoint: checks a request, authenticates its caller, reads the message, and passes it to the part that answers it. */

import { type Clock, systemClock } from '../../base/clock.ts'
import { reportError } from '../../base/report-error.ts'
import { within } from '../../base/wait.ts'
import type { Incoming } from '../../jsonrpc/message.ts'
import { read } from '../../jsonrpc/read.ts'
import type { Access, PublicDocument } from '../../protocol/interfaces/access.ts'
import type { ServedTasks, Service } from '../../protocol/interfaces/service.ts'
import { selectRevisions } from '../../revisions/index.ts'
import { isStateless } from '../../revisions/route.ts'
import type { SharedStore } from '../../store/shared-store.ts'
import { acceptedTypes } from './accepted-types.ts'
import { Authentication } from './authentication.ts'
import { checkScopes } from './authorization.ts'
import { bodyRefusal } from './body-refusal.ts'
import { expectsAnswer, idOf, requestsIn } from './expects-answer.ts'
import { type AllHttpLimits, FIXED_HTTP_LIMITS, type FixedHttpLimits } from './fixed-limits.ts'
import { corsHeaders, Guard, isFromBrowser, isJsonType, preflight } from './guard.ts'
import type { HttpCounts } from './http-counts.ts'
import { LegacySse, type LegacySseOptions } from './legacy-sse.ts'
import { BodyMemory, estimateMemory } from './limits/body-memory.ts'
import { type CallerUsage, UsageByCaller } from './limits/caller-usage.ts'
import { InFlight } from './limits/in-flight.ts'
import { KeptBytes } from './limits/kept-bytes.ts'
import type { SharedLimits } from './limits/shared-limits.ts'
import type { HealthCheck } from './operations/health.ts'
import type { Operations } from './operations/operations.ts'
import { type AuthenticatedCaller, countProxies, type HttpOptions, httpLimits } from './options.ts'
import { about, DRAINING, DRAINING_REPLICA, INTERNAL, JSON_TYPE, type Refusal, refusalJson, refuse } from './refusal.ts'
import { reportRefusal } from './report-refusal.ts'
import { RequestPaths } from './request-path.ts'
import type { BodyFault, HttpReply, HttpRequestView, RequestOfReply } from './runtime/request-reply.ts'
import type { SessionEndpoint } from './session/session-endpoint.ts'
import { SessionRequests } from './session/session-requests.ts'
import type { SharedSessions } from './shared/shared-sessions.ts'
import { answerStateless, type HttpPost, type StatelessOptions } from './stateless.ts'
import { OpenStreams } from './streams/open-streams.ts'

/** How long the end waits for a store that does not take the end of tasks. */
const TASKS_END_MS = 2000

export class Endpoint {
  readonly #paths = new RequestPaths()
  readonly limits: AllHttpLimits
  /** What `/readyz` checks, by name. */
  readonly checks: Map<string, HealthCheck>
  readonly #options: HttpOptions
  #service: Service
  readonly #tasks: ServedTasks | undefined
  readonly #clock: Clock
  readonly #guard: Guard
  readonly #inFlight: InFlight
  readonly #authentication: Authentication | undefined
  readonly #open: OpenStreams
  readonly #usages: UsageByCaller
  readonly #kept: KeptBytes
  readonly #proxies: number
  #stateless!: StatelessOptions
  #sessions: SessionEndpoint | undefined
  /** The part that hears of other replicas, also if there are no sessions. */
  #replica: SharedSessions | undefined
  #sharedLimits: SharedLimits | undefined
  #legacySse: LegacySse | undefined
  #operations: Operations | undefined
  #loading: Promise<void> | undefined
  readonly #tally = { values: 0 }
  #isEnding = false
  #isDraining = false

  constructor(service: Service, options: HttpOptions, clock: Clock = systemClock, fixed: FixedHttpLimits = FIXED_HTTP_LIMITS) {
    const limits: AllHttpLimits = { ...httpLimits(options.limits), ...fixed }
    const now = (): number => clock.now()
    const { health, metrics, onRequest, store } = options
    this.limits = limits
    this.checks = new Map(Object.entries((typeof health === 'object' && health.checks) || {}))
    this.#options = options
    this.#service = service
    this.#tasks = service.serveTasks?.()
    this.#clock = clock
    this.#guard = new Guard(options)
    this.#inFlight = new InFlight(limits)
    const prove = options.auth ? options.auth.authenticate.bind(options.auth) : options.authenticate
    this.#authentication = prove && new Authentication(prove, limits.failedLogins, now)
    this.#open = new OpenStreams(limits, clock, (reply, limit) =>
      this.#noteRefusal(reply, refuse(0, 'A client that did not read was disconnected', { limit })),
    )
    this.#usages = new UsageByCaller(this.#open)
    this.#kept = new KeptBytes(limits.maxKeptBytes, this.#usages)
    this.#proxies = countProxies(options.trustProxy)
    this.#serve(service)
    if (health || metrics || onRequest || store) this.#loading = this.#load()
  }

  /** Loads what only some servers need. Requests wait until it is there. */
  async #load(): Promise<void> {
    const { health, metrics, onRequest, store } = this.#options
    if (health || metrics || onRequest) await this.#operate()
    if (store) await this.#share(store)
    this.#loading = undefined
  }

  async #operate(): Promise<void> {
    const { Operations } = await import('./operations/operations.ts')
    this.#operations = await Operations.create(this.#service, this.#options, this, (reply, refusal) => this.#refuse(reply, refusal))
    // The end may have come in the meantime, and would end nothing that begins now.
    if (this.#open.isClosed) return this.#operations.close()
    this.#serve(this.#operations.service)
  }

  /** Serves sessions and rounds, limits callers and keeps tasks together with other replicas. */
  async #share(store: SharedStore): Promise<void> {
    const [{ SharedSessions }, { SharedLimits, servicesOf }, { CallerValues }] = await Promise.all([
      import('./shared/shared-sessions.ts'),
      import('./limits/shared-limits.ts'),
      import('./shared/caller-values.ts'),
    ])
    if (this.#open.isClosed) return
    const values = new CallerValues(store.counters, this.limits, this.#clock)
    this.#stateless.valuesOf = (usage) => values.of(usage)
    this.#options.auth?.shareWith?.(store.counters)
    this.#service.shareWith?.(servicesOf(store, this.#clock))
    const sharedLimits = new SharedLimits(store, this.limits, this.#clock)
    this.#sharedLimits = sharedLimits
    if (this.#authentication) this.#authentication.failures = sharedLimits.failedLogins
    this.#operations?.countLoginsWith(sharedLimits.failedLogins)
    this.checks.set('store', () => {
      const reason = store.health()
      if (reason === undefined) return undefined
      // A store that was never reached may have a wrong address. An update that brings one must end at its first replica.
      return { state: this.#replica?.hasJoined ? 'degraded' : 'down', reason }
    })
    this.#replica = new SharedSessions({
      store,
      service: this.#service,
      options: this.#options,
      limits: this.limits,
      inFlight: this.#inFlight,
      open: this.#open,
      clock: this.#clock,
      usageOf: (principal, address) => this.#usages.of(principal, address),
      bodyOf: (usage) => new BodyMemory(this.#inFlight, usage),
      hold: (usage) => sharedLimits.hold(usage),
      refuse: (reply, refusal, message) => this.#refuseLater(reply, refusal, message),
      onTakenOver: (counts) => this.#operations?.takenOver(counts),
    })
    this.checks.set('keys', this.#replica.checkKeys)
    if (this.#sessions && this.#options.sessions !== false) this.#sessions = this.#replica
    if (this.#legacySse) this.#legacySse.shared = { relay: this.#replica.relayFor(this.#legacySse), limits: sharedLimits }
    // A session of the oldest transport has the name of its replica, which others must know.
    await store.replica.join().catch(() => {})
  }

  /** Creates the parts that answer requests. */
  #serve(service: Service): void {
    const { limits } = this
    const options = this.#options
    const now = (): number => this.#clock.now()
    const supported = selectRevisions(service.versions)
    const shared = { service, limits, inFlight: this.#inFlight, open: this.#open }
    this.#service = service
    this.#stateless = {
      ...shared,
      supported,
      requireMcpHeaders: options.requireMcpHeaders === true,
      canListen: options.responses !== 'json',
    }
    const refuse: LegacySseOptions['refuse'] = (reply, refusal, message) => this.#refuseLater(reply, refusal, message)
    const hasSessions = supported.some(({ dialect }) => dialect === 'session')
    this.#sessions = hasSessions ? new SessionRequests({ ...shared, options, usages: this.#usages, kept: this.#kept, now }) : undefined
    this.#legacySse = hasSessions && options.legacySse !== false ? new LegacySse({ ...shared, now, refuse }) : undefined
  }

  /** False during and after the shutdown. */
  get isReady(): boolean {
    return !this.#isEnding
  }

  get counts(): HttpCounts {
    return {
      inFlight: this.#inFlight.requests,
      tasks: this.#tasks?.running ?? 0,
      abandoned: this.#inFlight.abandoned,
      streams: this.#open.size,
      sessions: this.#sessions?.size ?? 0,
      legacySessions: this.#legacySse?.size ?? 0,
      callers: this.#usages.size,
      bodyBytes: this.#inFlight.bodyBytes,
      keptBytes: this.#options.store?.keptBytes?.() ?? this.#kept.total,
    }
  }

  /** Answers one request, now or later. Never throws. */
  handle(request: HttpRequestView, reply: HttpReply): void {
    try {
      this.#handle(request, reply)
    } catch (error) {
      this.#fail(reply, error)
    }
  }

  #handle(request: HttpRequestView, reply: HttpReply): void {
    // The client may have disconnected while middleware in front of the endpoint was busy.
    if (reply.isGone) return
    if (this.#loading) return void this.#loading.then(() => this.handle(request, reply))
    request.proxies = this.#proxies
    reply.request = request
    const path = this.#paths.pathOf(request.url)
    if (this.#operations?.answer(path, request, reply)) return
    const { auth, card } = this.#options
    const document = auth?.document(request.method, path) ?? card?.document(request.method, path, request)
    if (document) return this.#publish(request, reply, document)
    const bad = this.#guard.check(request)
    if (bad) return this.#refuse(reply, bad)
    const origin = request.header('origin')
    if (origin !== undefined && this.#guard.isCrossOrigin(origin)) {
      reply.extraHeaders = corsHeaders(origin)
      if (request.method === 'OPTIONS') return reply.send(204, preflight(request.header('access-control-request-headers')))
    }
    if (request.method === 'GET' && this.#mayShowPage(request)) return void this.#showPage(request, reply)
    if (!this.#authentication) return this.#enter(request, reply, undefined)
    this.#authentication
      .callerOf(request)
      .then((outcome) => {
        if (!('principal' in outcome)) this.#refuse(reply, outcome)
        else if (!reply.isGone) this.#enter(request, reply, outcome)
      })
      .catch((error: unknown) => this.#fail(reply, error))
  }

  /** An error at one request must not end the process. */
  #fail(reply: HttpReply, error: unknown): void {
    reportError('portico: an HTTP request failed:', error)
    try {
      this.#refuse(reply, INTERNAL)
    } catch {
      // The response has begun.
    }
  }

  get #draining(): Refusal {
    return this.#replica ? DRAINING_REPLICA : DRAINING
  }

  /** Every GET of the legacy transport opens its stream. */
  #mayShowPage(request: HttpRequestView): boolean {
    const isLegacy = this.#legacySse && this.#paths.lastSegmentOf(request.url) === 'sse'
    return !isLegacy && this.#options.browserPage !== false && isFromBrowser(request)
  }

  async #showPage(request: HttpRequestView, reply: HttpReply): Promise<void> {
    const { sendBrowserPage } = await import('./browser-page.ts')
    if (!reply.isGone) sendBrowserPage(request, reply, this.#service.name, this.#authentication !== undefined)
  }

  /**
   * Accepts no new work, ends idle streams, and resolves when all requests are answered and all tasks have ended, or the time is over.
   *
   * @param delayMs how long to go on as before, except that `/readyz` says the truth
   */
  async drain(graceMs: number, delayMs = 0): Promise<void> {
    this.#isEnding = true
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    this.#isDraining = true
    this.#sessions?.release()
    const ended = this.#open.endStanding()
    const handedOver = this.#tasks?.handOver()
    // A request may still become a task.
    const idle = this.#inFlight.whenIdle().then(() => this.#tasks?.whenIdle())
    await within(graceMs, Promise.all([idle, ended, handedOver]), undefined)
  }

  /** Ends everything now. Resolves when other replicas may continue it, if there are some. */
  async close(): Promise<void> {
    this.#isEnding = true
    this.#isDraining = true
    // First: connections may be cut while the store does not answer.
    this.#open.beginClose()
    if (this.#sessions !== this.#replica) this.#sessions?.endAll('The server was closed')
    const tasksEnded = this.#tasks && within(TASKS_END_MS, this.#tasks.end(), undefined)
    // The last events come from the store.
    await this.#replica?.endAll('The server was closed')
    await tasksEnded
    this.#sharedLimits?.close()
    this.#legacySse?.endAll('The server was closed', 'shutdown')
    this.#open.close()
    this.#operations?.close()
  }

  /** Sends a public document. Only the Host header is checked. */
  #publish(request: HttpRequestView, reply: HttpReply, { status, headers, body }: PublicDocument): void {
    const bad = this.#guard.checkHead(request)
    if (bad) return this.#refuse(reply, bad)
    reply.send(status, headers, body)
  }

  #enter(request: HttpRequestView, reply: HttpReply, caller: AuthenticatedCaller | undefined): void {
    const principal = caller?.principal
    reply.principal = principal
    if (this.#open.isClosed) return this.#refuse(reply, this.#draining)
    if (caller?.auth) {
      // Converted to the monotonic clock once, so that a change of the wall clock has no effect.
      const leftMs = Math.max(0, caller.auth.expiresAt - Date.now())
      reply.endsAt = this.#clock.now() + leftMs + this.limits.authGraceMs
    }
    const lastSegment = this.#legacySse ? this.#paths.lastSegmentOf(request.url) : undefined
    // With a session id this GET opens the stream of a session, which may be served at the same URL.
    if (lastSegment === 'sse' && request.method === 'GET' && request.header('mcp-session-id') === undefined) {
      if (this.#isDraining) return this.#refuse(reply, this.#draining)
      return this.#refuseIf(
        reply,
        this.#legacySse?.connect(request, reply, principal, () => this.#usageOf(request, principal)),
      )
    }
    if (lastSegment === 'messages') {
      if (request.method !== 'POST') return this.#refuse(reply, notAllowed('POST'))
      return this.#read(request, reply, principal, (message, body) => {
        if (this.#isDraining && expectsAnswer(message)) return this.#draining
        return (
          checkScopes(message, caller, this.#options.auth, this.#service) ??
          this.#legacySse?.receive(message, { request, reply, body, principal, access: accessOf(caller) })
        )
      })
    }
    switch (request.method) {
      case 'POST':
        return this.#read(request, reply, principal, (message, body) => this.#post(message, body, request, reply, caller))
      case 'GET':
        // A client that resumes the stream of an answer may still get the rest.
        if (this.#isDraining && request.header('last-event-id') === undefined) return this.#refuse(reply, this.#draining)
        return this.#refuseIf(reply, this.#sessions ? this.#sessions.get(request, reply, principal) : notAllowed('POST'))
      case 'DELETE':
        return this.#refuseIf(reply, this.#sessions ? this.#sessions.delete(request, reply, principal) : notAllowed('POST'))
      default:
        return this.#refuse(reply, notAllowed(this.#sessions?.methods ?? 'POST'))
    }
  }

  #post(
    message: Incoming,
    body: BodyMemory,
    request: HttpRequestView,
    reply: HttpReply,
    caller: AuthenticatedCaller | undefined,
  ): Refusal | undefined {
    if (this.#isDraining && expectsAnswer(message)) return this.#draining
    const accepts = acceptedTypes(request, this.#options.responses)
    if (!accepts) return refuse(406, 'The Accept header must allow application/json or text/event-stream')
    const lacking = checkScopes(message, caller, this.#options.auth, this.#service)
    if (lacking) return lacking
    const principal = caller?.principal
    const post: HttpPost = { request, reply, body, accepts, usage: body.usage, principal, access: accessOf(caller) }
    if (!this.#sharedLimits || !expectsAnswer(message)) return this.#answer(message, post)
    return this.#sharedLimits.admit(
      message,
      post,
      // The shutdown may have begun while the store was asked.
      () => (this.#isDraining ? this.#draining : this.#answer(message, post)),
      (refusal) => this.#refuseLater(reply, refusal, message),
    )
  }

  #answer(message: Incoming, post: HttpPost): Refusal | undefined {
    if (!this.#sessions || isStateless(message, post.request.header('mcp-protocol-version'))) {
      return answerStateless(message, post, this.#stateless)
    }
    return this.#sessions.post(message, post)
  }

  #usageOf(request: HttpRequestView, principal: string | undefined): CallerUsage {
    return this.#usages.of(principal, request.remoteAddress)
  }

  /** Reads the body as a message, unless the headers already rule it out. */
  #read(
    request: HttpRequestView,
    reply: HttpReply,
    principal: string | undefined,
    then: (message: Incoming, body: BodyMemory) => Refusal | undefined,
  ): void {
    const { limits } = this
    if (!isJsonType(request.header('content-type'))) return this.#refuse(reply, NOT_JSON)
    if (request.header('content-encoding') !== undefined) return this.#refuse(reply, COMPRESSED)
    const length = request.header('content-length')
    if (length !== undefined && Number(length) > limits.maxBodyBytes) return this.#refuse(reply, bodyRefusal('too-large', limits))
    const usage = this.#usageOf(request, principal)
    const body = new BodyMemory(this.#inFlight, usage)
    // The usage of a caller is not removed while a body of theirs is arriving.
    usage.arriving++
    request.body(limits, body, (text, fault) => {
      usage.arriving--
      if (text === undefined || reply.isGone) {
        body.release()
        if (text !== undefined) return
        return this.#refuse(reply, fault === 'no-room' ? thenClose(body.refusal as Refusal) : bodyRefusal(fault as BodyFault, limits))
      }
      try {
        this.#receive(text, request, reply, body, then)
      } catch (error) {
        // What has counted the request has taken it out of the counts.
        if (!body.isInFlight) body.release()
        this.#fail(reply, error)
      }
    })
  }

  #receive(
    text: string,
    request: HttpRequestView,
    reply: HttpReply,
    body: BodyMemory,
    then: (message: Incoming, body: BodyMemory) => Refusal | undefined,
  ): void {
    this.#tally.values = 0
    if (this.#operations) body.arrival = this.#operations.arrivalOf(request, text)
    const message = read(text, this.limits, 0, text.length, this.#tally)
    body.requests = requestsIn(message)
    // A message without an answer is always accepted: a call in progress may wait for it.
    const hasRoom = !expectsAnswer(message) || body.settle(estimateMemory(text, this.#tally.values))
    const refusal = hasRoom ? then(message, body) : body.refusal
    if (!body.isInFlight) body.release()
    if (refusal) this.#refuse(reply, refusal, message)
  }

  #refuseIf(reply: HttpReply, refusal: Refusal | undefined): void {
    if (refusal) this.#refuse(reply, refusal)
  }

  /** A refusal that was found out later, when nobody catches an error. */
  #refuseLater(reply: HttpReply, refusal: Refusal, message: Incoming | undefined): void {
    try {
      this.#refuse(reply, refusal, message)
    } catch (error) {
      this.#fail(reply, error)
    }
  }

  /** @param refused its id is in the answer, unless the refusal has one */
  #refuse(reply: HttpReply, refusal: Refusal, refused?: Incoming): void {
    const { status, headers } = refusal
    const json = refusalJson(refused ? about(refusal, refusal.id ?? idOf(refused)) : refusal)
    if (!reply.isGone) reply.send(status, headers ? { ...JSON_TYPE, ...headers } : JSON_TYPE, json)
    this.#noteRefusal(reply, refusal)
  }

  /** Refuses a request to a path where nothing is served. A person may have typed it, so the answer is plain text. */
  refusePath(request: HttpRequestView, reply: HttpReply, endpointPath: string): void {
    request.proxies = this.#proxies
    reply.request = request
    const message = `The endpoint is ${endpointPath}`
    const refusal = !this.#isDraining ? refuse(404, message, { kind: 'unknown_path' }) : refuse(503, message, { kind: 'shutting_down' })
    reply.send(refusal.status, { 'content-type': 'text/plain' }, `${message}\n`)
    this.#noteRefusal(reply, refusal)
  }

  #noteRefusal(reply: RequestOfReply, refusal: Refusal): void {
    this.#operations?.refused(refusal)
    reportRefusal(this.#options, reply, refusal)
  }
}

/** A caller without `auth` has no access to anything that needs a scope. */
const accessOf = (caller: AuthenticatedCaller | undefined): Access => caller?.auth ?? null

/** Closes the connection, because the rest of the body is not read. */
const thenClose = (refusal: Refusal): Refusal => ({ ...refusal, headers: { ...refusal.headers, connection: 'close' } })

const NOT_JSON = refuse(415, 'The body of a POST must be application/json')
const COMPRESSED = refuse(415, 'Compressed bodies are not supported', { headers: { 'accept-encoding': 'identity' } })

const notAllowed = (methods: string): Refusal => refuse(405, `Method not allowed; use ${methods}`, { headers: { allow: methods } })
