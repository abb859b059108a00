/** The one URL: judges a request, finds out who sent it and what it speaks, and hands it to what answers it. */

import { type Clock, systemClock } from '../../base/clock.ts'
import type { Incoming } from '../../jsonrpc/message.ts'
import { PARSE_ERROR } from '../../jsonrpc/message.ts'
import { read } from '../../jsonrpc/read.ts'
import { McpError } from '../../protocol/errors.ts'
import { type Access, type PublicDocument, permits } from '../../protocol/seams/access.ts'
import type { Service } from '../../protocol/seams/service.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { selectRevisions } from '../../revisions/index.ts'
import { isStateless } from '../../revisions/route.ts'
import type { Ask, BodyFault, Headers, Reply } from './ask.ts'
import { BodyHold, weightOf } from './body-hold.ts'
import { FailedLogins } from './failed-logins.ts'
import { acceptsOf, Guard, isJsonType } from './guard.ts'
import { type Holder, Holders } from './holders.ts'
import { KeptBytes } from './kept-bytes.ts'
import { Load } from './load.ts'
import { OpenStreams } from './open-streams.ts'
import { DEFAULT_HTTP_LIMITS, type HttpLimits, type HttpOptions, type TurnedAway, type Visitor } from './options.ts'
import { isOwed } from './owed.ts'
import { about, DRAINING, JSON_TYPE, type Refusal, refusalJson, refuse } from './refusal.ts'
import { SessionSide } from './session-side.ts'
import { answerStateless, type StatelessOptions, type Visit } from './stateless.ts'
import { TwoEndpoints } from './two-endpoints.ts'

/** What a handler holds now. */
export interface HttpCounts {
  /** Requests that are worked on. */
  inFlight: number
  /** Those of them that nobody waits for. */
  abandoned: number
  streams: number
  sessions: number
  /** Sessions of the oldest transport. */
  legacySessions: number
  /** Principals and addresses that hold something, or did a second ago. */
  callers: number
  /** What messages take that arrive or are worked on. */
  bodyBytes: number
  /** Bytes kept for clients that come back to a stream. */
  keptBytes: number
}

export class Endpoint {
  readonly limits: HttpLimits
  readonly #options: HttpOptions
  readonly #service: Service
  readonly #clock: Clock
  readonly #guard: Guard
  readonly #load: Load
  readonly #failedLogins: FailedLogins
  readonly #open: OpenStreams
  readonly #holders: Holders
  readonly #kept: KeptBytes
  readonly #proxies: number
  readonly #stateless: StatelessOptions
  readonly #sessions: SessionSide | undefined
  readonly #twoEndpoints: TwoEndpoints | undefined
  readonly #tally = { values: 0 }
  #isDraining = false
  #lastUrl = ''
  #lastPath = ''
  #lastPlace = ''

  constructor(service: Service, options: HttpOptions, clock: Clock = systemClock) {
    const limits: HttpLimits = withDefaults(DEFAULT_HTTP_LIMITS, options.limits)
    const supported = selectRevisions(service.versions)
    const now = (): number => clock.now()
    this.limits = limits
    this.#options = options
    this.#service = service
    this.#clock = clock
    this.#guard = new Guard(options, limits.maxHeaders)
    this.#load = new Load(limits)
    this.#failedLogins = new FailedLogins(limits.failedLogins, now)
    this.#open = new OpenStreams(limits, clock, (limit) => this.#tell({ status: 0, reason: 'A reader was cut off', limit }))
    this.#holders = new Holders(this.#open)
    this.#kept = new KeptBytes(limits.maxKeptBytes, this.#holders)
    this.#proxies = proxiesOf(options.trustProxy)
    const shared = { service, limits, load: this.#load, open: this.#open }
    this.#stateless = {
      ...shared,
      supported,
      requireMcpHeaders: options.requireMcpHeaders === true,
      canListen: options.responses !== 'json',
    }
    const hasSessions = supported.some(({ dialect }) => dialect === 'session')
    this.#sessions = hasSessions ? new SessionSide({ ...shared, options, holders: this.#holders, kept: this.#kept, now }) : undefined
    this.#twoEndpoints = hasSessions && options.legacySse !== false ? new TwoEndpoints({ ...shared, now }) : undefined
  }

  /** False while it takes no more work. */
  get isReady(): boolean {
    return !this.#isDraining
  }

  /** What is held now, for metrics. */
  get counts(): HttpCounts {
    return {
      inFlight: this.#load.inFlight,
      abandoned: this.#load.abandoned,
      streams: this.#open.size,
      sessions: this.#sessions?.size ?? 0,
      legacySessions: this.#twoEndpoints?.size ?? 0,
      callers: this.#holders.size,
      bodyBytes: this.#load.bodyBytes,
      keptBytes: this.#kept.total,
    }
  }

  /** Answers one request, sooner or later; never throws. */
  handle(ask: Ask, reply: Reply): void {
    // The client may have gone while whatever stands before us was busy.
    if (reply.isGone) return
    ask.proxies = this.#proxies
    const { auth, authenticate } = this.#options
    const document = auth?.document(ask.method, this.#pathOf(ask.url))
    if (document) return this.#publish(ask, reply, document)
    const bad = this.#guard.judge(ask)
    if (bad) return this.#refuse(reply, bad)
    const origin = ask.header('origin')
    if (origin !== undefined && this.#guard.isCrossOrigin(origin)) {
      reply.extraHeaders = corsHeaders(origin)
      if (ask.method === 'OPTIONS') return reply.send(204, preflight(ask.header('access-control-request-headers')))
    }
    const prove = auth ? auth.authenticate.bind(auth) : authenticate
    if (!prove) return this.#enter(ask, reply, undefined)
    this.#authenticated(ask, prove).then(
      (visitor) => {
        // Nobody waits any more.
        if (reply.isGone) return
        if ('principal' in visitor) return this.#enter(ask, reply, visitor)
        return this.#turnAway(ask, visitor).then((refusal) => this.#refuse(reply, refusal))
      },
      () => this.#refuse(reply, refuse(503, 'Who is calling could not be found out', { headers: { 'retry-after': '5' } })),
    )
  }

  /** Takes no new work, ends what only waits, and resolves when the work in hand is done or the time is over. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true
    this.#sessions?.release()
    const ended = this.#open.endStanding()
    let timer: ReturnType<typeof setTimeout> | undefined
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs)
    })
    await Promise.race([Promise.all([this.#load.whenIdle(), ended]), grace])
    clearTimeout(timer)
  }

  /** Ends everything now. */
  close(): void {
    this.#isDraining = true
    this.#sessions?.endAll('The server was closed')
    this.#twoEndpoints?.endAll('The server was closed')
    this.#open.close()
  }

  /** Rejects when there is no proof and no refusal, as a program without types may have it: nobody comes in by accident. */
  async #authenticated(ask: Ask, authenticate: NonNullable<HttpOptions['authenticate']>): Promise<Visitor | TurnedAway> {
    const said: Visitor | TurnedAway = await authenticate(ask)
    const isClear =
      'principal' in said ? typeof said.principal === 'string' && said.principal !== '' : said.status >= 400 && said.status < 600
    if (!isClear) throw new TypeError('authenticate gives a principal, or the status of a refusal')
    return said
  }

  /** Who brings nothing is told how to log in, as often as it takes; who keeps bringing the wrong thing is told to wait. */
  async #turnAway(ask: Ask, said: TurnedAway): Promise<Refusal> {
    const credentials = said.status === 401 ? ask.header('authorization') : undefined
    return (credentials !== undefined && (await this.#failedLogins.count(ask.remoteAddress, credentials))) || said
  }

  /** What everybody may read: only the name it is asked under is judged. */
  #publish(ask: Ask, reply: Reply, { status, headers, body }: PublicDocument): void {
    const bad = this.#guard.judgeHead(ask)
    if (bad) return this.#refuse(reply, bad)
    reply.send(status, headers, body)
  }

  #enter(ask: Ask, reply: Reply, visitor: Visitor | undefined): void {
    const principal = visitor?.principal
    if (visitor?.auth) {
      // Reckoned once from what time it is now: a wall clock that is set anew lengthens and shortens nothing.
      const leftMs = Math.max(0, visitor.auth.expiresAt - Date.now())
      reply.endsAt = this.#clock.now() + leftMs + this.limits.authGraceMs
    }
    const place = this.#twoEndpoints ? this.#placeOf(ask.url) : undefined
    // Served at that very URL, the stream of a session is something else.
    if (place === 'sse' && ask.method === 'GET' && ask.header('mcp-session-id') === undefined) {
      if (this.#isDraining) return this.#refuse(reply, DRAINING)
      return this.#refuseIf(reply, this.#twoEndpoints?.connect(ask, reply, principal, this.#holderOf(ask, principal)))
    }
    if (place === 'messages') {
      if (ask.method !== 'POST') return this.#refuse(reply, notAllowed('POST'))
      return this.#read(ask, reply, principal, (message, body) => {
        if (this.#isDraining && isOwed(message)) return DRAINING
        return this.#faultOfScopes(message, visitor) ?? this.#twoEndpoints?.receive(message, { ask, reply, body, ...whoIs(visitor) })
      })
    }
    switch (ask.method) {
      case 'POST':
        return this.#read(ask, reply, principal, (message, body) => this.#post(message, body, ask, reply, visitor))
      case 'GET':
        // Whoever comes back for the rest of an answer can have it.
        if (this.#isDraining && ask.header('last-event-id') === undefined) return this.#refuse(reply, DRAINING)
        return this.#refuseIf(reply, this.#sessions ? this.#sessions.get(ask, reply, principal) : notAllowed('POST'))
      case 'DELETE':
        return this.#refuseIf(reply, this.#sessions ? this.#sessions.delete(ask, reply, principal) : notAllowed('POST'))
      default:
        return this.#refuse(reply, notAllowed(this.#sessions?.methods ?? 'POST'))
    }
  }

  /** The last part of the path: `sse` and `messages` are the endpoints of the oldest revision. Nearly every URL is the same. */
  #placeOf(url: string): string {
    this.#pathOf(url)
    return this.#lastPlace
  }

  #pathOf(url: string): string {
    if (url !== this.#lastUrl) {
      this.#lastUrl = url
      this.#lastPath = pathOf(url)
      this.#lastPlace = this.#lastPath.slice(this.#lastPath.lastIndexOf('/') + 1)
    }
    return this.#lastPath
  }

  /** What the caller lacks is said in the status, before anything is done. */
  #faultOfScopes(message: Incoming, visitor: Visitor | undefined): Refusal | undefined {
    const { auth } = this.#options
    if (!auth || !visitor) return undefined
    const requests = message.kind === 'batch' ? message.messages : [message]
    const needed = requests.flatMap((each) => (each.kind === 'request' ? this.#service.requiredScopes(each) : []))
    if (permits(visitor.auth ?? null, needed)) return undefined
    return about(auth.forbid([...new Set(needed)], visitor), message.kind === 'request' ? message.id : undefined)
  }

  #post(message: Incoming, body: BodyHold, ask: Ask, reply: Reply, visitor: Visitor | undefined): Refusal | undefined {
    if (this.#isDraining && isOwed(message)) return DRAINING
    const kinds = this.#kindsOf(ask)
    if (!kinds) return refuse(406, 'The answer is application/json or text/event-stream; the Accept header takes neither')
    const lacking = this.#faultOfScopes(message, visitor)
    if (lacking) return lacking
    const visit: Visit = { ask, reply, body, kinds, holder: this.#holderOf(ask, visitor?.principal), ...whoIs(visitor) }
    if (!this.#sessions || isStateless(message, ask.header('mcp-protocol-version'))) {
      return answerStateless(message, visit, this.#stateless)
    }
    return this.#sessions.post(message, visit)
  }

  #holderOf(ask: Ask, principal: string | undefined): Holder {
    return this.#holders.of(principal, ask.remoteAddress)
  }

  /** What the client takes of what we are set to give; undefined for nothing. */
  #kindsOf(ask: Ask): { json: boolean; events: boolean } | undefined {
    const { responses = 'auto' } = this.#options
    const accepts = acceptsOf(ask.header('accept'))
    if (responses === 'auto') return accepts.json || accepts.events ? accepts : undefined
    if (responses === 'json') return accepts.json ? ONLY_JSON : undefined
    return accepts.events ? ONLY_EVENTS : undefined
  }

  /** Reads the body as a message, unless its head says that there is no point. */
  #read(ask: Ask, reply: Reply, principal: string | undefined, then: (message: Incoming, body: BodyHold) => Refusal | undefined): void {
    const { limits } = this
    if (!isJsonType(ask.header('content-type'))) return this.#refuse(reply, NOT_JSON)
    if (ask.header('content-encoding') !== undefined) return this.#refuse(reply, COMPRESSED)
    const length = ask.header('content-length')
    if (length !== undefined && Number(length) > limits.maxBodyBytes) return this.#refuse(reply, this.#faultOfBody('too-large'))
    const holder = this.#holderOf(ask, principal)
    const body = new BodyHold(this.#load, holder)
    // Keeps the count of a caller whose body is still on its way.
    holder.arriving++
    ask.body(limits, body.grow, (text, fault) => {
      holder.arriving--
      if (text === undefined || reply.isGone) {
        body.release()
        // Nobody waits any more.
        if (text !== undefined) return
        return this.#refuse(reply, fault === 'no-room' ? withoutRest(body.refusal as Refusal) : this.#faultOfBody(fault as BodyFault))
      }
      this.#tally.values = 0
      const message = read(text, limits, 0, text.length, this.#tally)
      // What wants no answer is taken all the same: it may be what a call in hand waits for.
      const hasRoom = !isOwed(message) || body.settle(weightOf(text, this.#tally.values))
      const refusal = hasRoom ? then(message, body) : body.refusal
      if (!body.isInHand) body.release()
      if (refusal) this.#refuse(reply, about(refusal, refusal.id ?? (message.kind === 'request' ? message.id : undefined)))
    })
  }

  #faultOfBody(fault: BodyFault): Refusal {
    const { maxBodyBytes, minBodyRate, bodyGraceMs } = this.limits
    const headers = { connection: 'close' }
    switch (fault) {
      case 'too-slow':
        return refuse(408, `The body came slower than ${minBodyRate} bytes a second for ${bodyGraceMs} ms (limits.minBodyRate)`, {
          headers,
        })
      case 'gone':
        return refuse(400, 'The body broke off')
      case 'not-utf8':
        return refuse(400, 'The message is not UTF-8', { code: PARSE_ERROR })
      default:
        return refuse(413, `The message is longer than ${maxBodyBytes} bytes (limits.maxBodyBytes)`, { headers, limit: 'maxBodyBytes' })
    }
  }

  #refuseIf(reply: Reply, refusal: Refusal | undefined): void {
    if (refusal) this.#refuse(reply, refusal)
  }

  #refuse(reply: Reply, refusal: Refusal): void {
    const { status, message, limit, headers } = refusal
    if (!reply.isGone) reply.send(status, headers ? { ...JSON_TYPE, ...headers } : JSON_TYPE, refusalJson(refusal))
    this.#tell(limit === undefined ? { status, reason: message } : { status, reason: message, limit })
  }

  /** Whoever keeps the log can fail; requests, which anybody may send, are not what brings the process down then. */
  #tell(what: Parameters<NonNullable<HttpOptions['onRefused']>>[0]): void {
    try {
      this.#options.onRefused?.(what)
    } catch {}
  }
}

/** Somebody who has proved nothing may use nothing that needs a scope. */
const whoIs = (visitor: Visitor | undefined): { principal: string | undefined; access: Access } => ({
  principal: visitor?.principal,
  access: visitor?.auth ?? null,
})

/** The rest of the body is not read. */
const withoutRest = (refusal: Refusal): Refusal => ({ ...refusal, headers: { ...refusal.headers, connection: 'close' } })

const ONLY_JSON = { json: true, events: false }
const ONLY_EVENTS = { json: false, events: true }

const NOT_JSON = refuse(415, 'The body of a POST is application/json')
const COMPRESSED = refuse(415, 'Compressed bodies are not taken', { headers: { 'accept-encoding': 'identity' } })

const notAllowed = (methods: string): Refusal => refuse(405, `Only ${methods} can be used here`, { headers: { allow: methods } })

/** The path of a request target, without the query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  return path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/]*/i, '') || '/'
}

/** How many proxies tell the address of a client. */
function proxiesOf(trustProxy: boolean | number | undefined): number {
  const count = Number(trustProxy ?? 0)
  if (Number.isInteger(count) && count >= 0) return count
  throw new McpError('ERR_DEFINITION', `trustProxy must be true, false or the number of proxies, not ${String(trustProxy)}`)
}

const corsHeaders = (origin: string): Headers => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate, DPoP-Nonce',
  vary: 'Origin',
})

const ALLOWED_HEADERS =
  'Content-Type, Accept, Authorization, DPoP, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID'

/** What a page may do, asked before it does. Headers that mirror arguments have names of their own, so those asked for are told. */
function preflight(wanted = ''): Headers {
  const mirrors = wanted
    .split(',')
    .map((name) => name.trim())
    .filter((name) => /^mcp-param-[\w!#$%&'*+.^`|~-]+$/i.test(name))
  return {
    'access-control-allow-methods': 'POST, GET, DELETE, OPTIONS',
    'access-control-allow-headers': [ALLOWED_HEADERS, ...mirrors].join(', '),
    'access-control-max-age': '600',
  }
}
