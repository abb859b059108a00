/** Handles POST, GET and DELETE of the revisions with sessions when several replicas serve them. */

import { randomId } from '../../../base/bytes.ts'
import type { Clock, Timer } from '../../../base/clock.ts'
import {
  INVALID_REQUEST,
  type Incoming,
  type NotificationMessage,
  type RequestMessage,
  type SingleMessage,
} from '../../../jsonrpc/message.ts'
import { errorJson, notificationJson, resultJson } from '../../../jsonrpc/write.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { Change } from '../../../protocol/interfaces/replaceable-services.ts'
import type { Service, SessionState } from '../../../protocol/interfaces/service.ts'
import type { StoreMessage } from '../../../store/replica.ts'
import type { SharedStore } from '../../../store/shared-store.ts'
import { STANDING_STREAM } from '../../../store/stream-logs.ts'
import { expectsAnswer, idOf } from '../expects-answer.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import { acceptsOf } from '../guard.ts'
import type { LegacyRelay, LegacySse } from '../legacy-sse.ts'
import type { BodyMemory } from '../limits/body-memory.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import type { InFlight } from '../limits/in-flight.ts'
import type { HttpOptions } from '../options.ts'
import { about, busy, DRAINING, JSON_TYPE, type Refusal, refuse, STORE_DOWN } from '../refusal.ts'
import type { HttpReply, HttpRequestView } from '../runtime/request-reply.ts'
import {
  checkBatch,
  checkSessionHeaders,
  checkSessionVersion,
  checkShape,
  NO_EVENTS,
  NO_SESSION_ID,
  NOT_FOUND,
  SILENT,
} from '../session/check-request.ts'
import { statusOf } from '../session/session.ts'
import type { SessionEndpoint } from '../session/session-endpoint.ts'
import type { HttpPost } from '../stateless.ts'
import { EVENT_STREAM_HEADERS, eventText } from '../streams/event-stream.ts'
import type { OpenStreams } from '../streams/open-streams.ts'
import { Announcements } from './announcements.ts'
import { DeadReplicas } from './dead-replicas.ts'
import { eventIdOf, readEventId } from './event-ids.ts'
import { SharedLegacy } from './legacy-relay.ts'
import { callName } from './open-call.ts'
import type { ReplicaServices } from './replica-services.ts'
import { RunningCalls } from './running-calls.ts'
import { SessionIds } from './session-ids.ts'
import { changeRecord, type ReadSession, type SessionRecord } from './session-record.ts'
import { moveTopics, SESSIONS, topicsOf } from './session-topics.ts'
import { streamOfQuestion } from './shared-call.ts'
import { SharedPages } from './shared-pages.ts'
import { standingOutlet } from './standing-stream.ts'
import { isFault, READ_AT_ONCE, Tails } from './tails.ts'

export interface SharedSessionsOptions {
  store: SharedStore
  service: Service
  options: HttpOptions
  limits: AllHttpLimits
  inFlight: InFlight
  open: OpenStreams
  clock: Clock
  usageOf(principal: string | undefined, address: string | undefined): CallerUsage
  /** Counts the memory of a message. */
  bodyOf(usage: CallerUsage): BodyMemory
  /** Sends a refusal that was found out later. */
  refuse(reply: HttpReply, refusal: Refusal): void
}

/** Ended streams of one session that are kept, as without a store. */
const MAX_ENDED = 16

/** How long a replica that ends waits for the store to accept the last events. */
const HAND_OVER_MS = 2000
/** How often to look for replicas that have ended, at least. */
const LOOK_MS = 1000

/** Messages between replicas. */
type ReplicaNotice =
  | { kind: 'notice'; sid: string; json: string }
  | { kind: 'end'; sid: string }
  | { kind: 'change'; change: Change }
  /** A replica has ended, and has left its requests to others. */
  | { kind: 'left' }

export class SharedSessions implements SessionEndpoint {
  readonly methods = 'POST, GET, DELETE'
  readonly #options: SharedSessionsOptions
  readonly #services: ReplicaServices
  readonly #store: SharedStore
  readonly #ids: SessionIds
  readonly #announcements: Announcements
  readonly #dead: DeadReplicas
  readonly #calls: RunningCalls
  readonly #stopListening: (() => void)[] = []
  readonly #topicLifeMs: number
  #timer: Timer | undefined
  #isClosed = false
  #isDraining = false
  #batches = 0
  #lastReport = 0
  #lookedAgainAt = 0
  #lookingAgain: Promise<void> | undefined
  /** When the sessions of clients that only listen were kept from expiring. */
  #keptAt = 0

  constructor(options: SharedSessionsOptions) {
    const { store, service, limits, inFlight, open, clock } = options
    this.#options = options
    this.#store = store
    this.#services = {
      service,
      store,
      limits,
      inFlight,
      open,
      clock,
      bounds: { maxEvents: limits.maxEvents, maxBytes: limits.maxEventBytes, endedTtlMs: limits.eventTtlMs, maxEnded: MAX_ENDED },
      tails: new Tails(store, open, (error) => this.#report(error)),
      pages: new SharedPages(store.counters, limits.sessionIdleMs),
      nextBatch: () => ++this.#batches,
      report: (error) => this.#report(error),
    }
    this.#topicLifeMs = limits.sessionIdleMs * 1.5
    this.#ids = new SessionIds(store.counters, limits.sessionIdleMs * 2)
    this.#announcements = new Announcements(this.#services)
    this.#calls = new RunningCalls({
      services: this.#services,
      usageOf: options.usageOf,
      bodyOf: options.bodyOf,
      change: (session, apply) => this.#change(session, apply),
    })
    this.#dead = new DeadReplicas(this.#services, this.#calls)
    const stop = service.onAnnouncement?.((announcement) => this.#announcements.add(announcement))
    if (stop) this.#stopListening.push(stop)
    this.#stopListening.push(store.replica.listen((message) => this.#onMessage(message)))
    this.#join()
    this.#tend()
  }

  /** Passes messages of the oldest transport on to other replicas, and takes theirs. */
  relayFor(legacy: LegacySse): LegacyRelay {
    const relay = new SharedLegacy({ ...this.#options, legacy })
    this.#stopListening.push(() => relay.close())
    return relay
  }

  /** The sessions that have a request or a stream at this replica. */
  get size(): number {
    return new Set([...this.#services.tails.sids(), ...this.#calls.sids()]).size
  }

  post(message: Incoming, post: HttpPost): Refusal | undefined {
    const { request, reply, usage, body } = post
    const { service, options, inFlight } = this.#options
    const fault = checkSessionHeaders(message, request, service, options.requireMcpHeaders === true)
    if (fault) return fault
    const sid = request.header('mcp-session-id')
    const isHandshake = sid === undefined && message.kind === 'request' && message.method === 'initialize'
    if (sid === undefined && !isHandshake) return checkShape(message) ?? NO_SESSION_ID
    if (!expectsAnswer(message)) {
      this.#later(this.#take(sid as string, message, post), reply, message)
      return undefined
    }
    const full = inFlight.enter(usage, body)
    if (full) return about(full, idOf(message))
    const work = sid === undefined ? this.#initialize(message as RequestMessage, post) : this.#call(sid, message, post)
    // A refusal or an error means that nothing runs.
    const counted = work.then(
      (refusal) => {
        if (refusal) inFlight.leave(usage, body)
        return refusal
      },
      (error: unknown) => {
        inFlight.leave(usage, body)
        throw error
      },
    )
    this.#later(counted, reply, message)
    return undefined
  }

  get(request: HttpRequestView, reply: HttpReply, principal: string | undefined): Refusal | undefined {
    const version = checkSessionVersion(request, this.#options.service)
    if (version) return version
    const sid = request.header('mcp-session-id')
    if (sid === undefined) return NO_SESSION_ID
    if (!acceptsOf(request.header('accept')).events) return NO_EVENTS
    this.#later(this.#read(sid, request, reply, principal), reply)
    return undefined
  }

  delete(request: HttpRequestView, reply: HttpReply, principal: string | undefined): Refusal | undefined {
    const version = checkSessionVersion(request, this.#options.service)
    if (version) return version
    const sid = request.header('mcp-session-id')
    if (sid === undefined) return NO_SESSION_ID
    this.#later(this.#end(sid, reply, principal), reply)
    return undefined
  }

  release(): void {
    this.#isDraining = true
    this.#dead.stop()
    this.#services.tails.breakOffAll()
  }

  /** Leaves what runs here to the other replicas. The sessions live on there. */
  async endAll(reason: string): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#timer?.cancel()
    this.#dead.stop()
    for (const stop of this.#stopListening) stop()
    this.#services.tails.breakOffAll()
    const { replica } = this.#store
    try {
      const waited = new Promise<void>((resolve) => this.#options.clock.after(HAND_OVER_MS, resolve))
      await Promise.race([this.#calls.handOverAll(reason), waited])
      await replica.leave()
      await replica.broadcast(JSON.stringify({ kind: 'left' } satisfies ReplicaNotice))
    } catch {
      // A store that cannot be reached: others take over when the lease ends.
    }
  }

  /** Sends the refusal of a request that needed the store. */
  #later(work: Promise<Refusal | undefined>, reply: HttpReply, message?: Incoming): void {
    work.then(
      (refusal) => refusal && this.#options.refuse(reply, about(refusal, refusal.id ?? (message && idOf(message)))),
      (error: unknown) => {
        const isDown = error instanceof McpError && error.code === 'ERR_STORE_DOWN'
        if (!isDown) this.#report(error)
        const refusal = isDown ? STORE_DOWN : refuse(500, 'Internal error')
        this.#options.refuse(reply, about(refusal, message && idOf(message)))
      },
    )
  }

  /** Reads the session and, with `call`, registers the request. Sessions of others look as if they did not exist. */
  async #enter(sid: string, principal: string | undefined, call?: string): Promise<ReadSession | Refusal> {
    if (!(await this.#ids.isGenuine(sid, this.#options.clock.now()))) return NOT_FOUND
    const max = this.#options.limits.maxInFlightPerSession
    const entered = await this.#store.sessions.enter(sid, call, max)
    switch (entered) {
      case 'gone':
        return NOT_FOUND
      case 'duplicate':
        return refuse(400, `A request with id ${call} is already in progress`, { code: INVALID_REQUEST })
      case 'full':
        return busy(429, 'maxInFlightPerSession', max, 'requests at once in this session')
    }
    const record = JSON.parse(entered.record) as SessionRecord
    if (record.principal !== principal) {
      if (call !== undefined) await this.#store.sessions.leave(sid, call)
      return NOT_FOUND
    }
    if (entered.isTopicRenewalDue) this.#renewTopics(sid, record)
    return { sid, record, revision: entered.revision }
  }

  #renewTopics(sid: string, record: SessionRecord): void {
    const adding = topicsOf(sid, record).map(([topic, member]) => this.#store.topics.add(topic, member, this.#topicLifeMs))
    Promise.all(adding).catch((error: unknown) => this.#report(error))
  }

  async #call(sid: string, message: Incoming, post: HttpPost): Promise<Refusal | undefined> {
    const name = message.kind === 'request' ? callName(message.id) : undefined
    const session = await this.#enter(sid, post.principal, name)
    if ('status' in session) return session
    this.#calls.start(session, message, post)
    return undefined
  }

  /** Changes the record, and the topics that follow from it. */
  async #change(session: ReadSession, apply: (state: SessionState) => void): Promise<void> {
    const before = structuredClone(session.record)
    const after = await changeRecord(this.#store, session, apply)
    await moveTopics(this.#store.topics, session.sid, before, after, this.#topicLifeMs)
  }

  async #initialize(message: RequestMessage, { reply, principal, usage, access, accepts, body }: HttpPost): Promise<Refusal | undefined> {
    const { service, inFlight } = this.#options
    const caller = `caller ${usage.kind} ${usage.key}`
    const crowded = await this.#checkRoom(usage, caller)
    if (crowded) return about(crowded, message.id)
    const sid = await this.#ids.create()
    let state: SessionState | undefined
    const shared = {
      state: undefined,
      account: sid,
      begin: (begun: SessionState) => (state = begun),
      change: () => Promise.resolve(),
      openPage: () => Promise.resolve(),
    }
    const channel = service.open({ outlet: { ...SILENT, canPush: true }, principal, shared })
    const over = (): void => {
      inFlight.leave(usage, body)
      queueMicrotask(() => channel.close('The handshake is over'))
    }
    reply.onGone = () => channel.close('The client disconnected during the handshake')
    channel.receive(message, {
      sender: access,
      push: () => undefined,
      answer: (json, errorCode) => {
        over()
        if (errorCode !== undefined || !state) return reply.send(statusOf(errorCode), JSON_TYPE, json)
        const record: SessionRecord = { principal, eventName: randomId().slice(0, 12), caller, state }
        this.#later(
          this.#begin(sid, record).then(() => {
            const headers = { 'mcp-session-id': sid }
            if (reply.isGone) return this.#forget(sid, record)
            if (accepts.json) reply.send(200, { ...JSON_TYPE, ...headers }, json)
            else reply.send(200, { ...EVENT_STREAM_HEADERS, ...headers }, eventText(json, undefined))
            return undefined
          }),
          reply,
          message,
        )
      },
      drop: () => {
        over()
        if (!reply.isGone) reply.send(202, {})
      },
    })
    return undefined
  }

  /** Counted for all replicas together, so two clients that come at once may both find room. */
  async #checkRoom(usage: CallerUsage, caller: string): Promise<Refusal | undefined> {
    const { maxSessions, maxSessionsPerPrincipal, maxSessionsPerAddress } = this.#options.limits
    const { topics } = this.#store
    const [all, own] = await Promise.all([topics.size(SESSIONS), topics.size(caller)])
    if (all >= maxSessions) return busy(503, 'maxSessions', maxSessions, 'sessions')
    if (usage.kind === 'principal' && own >= maxSessionsPerPrincipal)
      return busy(429, 'maxSessionsPerPrincipal', maxSessionsPerPrincipal, 'sessions of one caller')
    if (usage.kind === 'address' && maxSessionsPerAddress !== false && own >= maxSessionsPerAddress)
      return busy(429, 'maxSessionsPerAddress', maxSessionsPerAddress, 'sessions of one address')
    return undefined
  }

  async #begin(sid: string, record: SessionRecord): Promise<void> {
    const { sessionIdleMs, sessionMaxAgeMs } = this.#options.limits
    await this.#store.sessions.create(sid, JSON.stringify(record), { ttlMs: sessionIdleMs, maxAgeMs: sessionMaxAgeMs })
    await moveTopics(this.#store.topics, sid, undefined, record, this.#topicLifeMs)
  }

  async #forget(sid: string, record: SessionRecord): Promise<undefined> {
    await this.#store.sessions.end(sid)
    await moveTopics(this.#store.topics, sid, record, undefined, this.#topicLifeMs)
  }

  /** Handles messages that get no answer. */
  async #take(sid: string, message: Incoming, { reply, principal }: HttpPost): Promise<Refusal | undefined> {
    const session = await this.#enter(sid, principal)
    if ('status' in session) return session
    const fault = checkShape(message) ?? checkBatch(message, session.record.state.version)
    if (fault) return fault
    for (const each of message.kind === 'batch' ? message.messages : [message]) await this.#takeOne(session, each)
    if (!reply.isGone) reply.send(202, {})
    return undefined
  }

  async #takeOne(session: ReadSession, message: SingleMessage): Promise<void> {
    const { sid } = session
    if (message.kind === 'result' || message.kind === 'error') {
      const stream = streamOfQuestion(message.id)
      const { id } = message
      if (stream === undefined || typeof id !== 'string') return
      await this.#store.streams.answer(
        sid,
        stream,
        id,
        message.kind === 'result' ? resultJson(id, message.result) : errorJson(id, message.error),
      )
    } else if (message.kind === 'notification') await this.#notice(session, message)
  }

  async #notice(session: ReadSession, message: NotificationMessage): Promise<void> {
    const { sid, record } = session
    const { method, params } = message
    const json = JSON.stringify({ kind: 'notice', sid, json: notificationJson(method, params) } satisfies ReplicaNotice)
    switch (method) {
      case 'notifications/cancelled': {
        const id = params?.requestId
        if (typeof id !== 'string' && typeof id !== 'number') return
        const runner = await this.#store.sessions.runnerOf(sid, callName(id))
        if (runner === undefined || runner === this.#store.replica.id) this.#calls.notice(sid, message)
        else await this.#store.replica.send(runner, json)
        return
      }
      case 'notifications/initialized':
        await this.#change(session, (state) => {
          state.isReady = true
        })
        this.#calls.notice(sid, message)
        return this.#store.replica.broadcast(json)
      case 'notifications/progress':
        this.#calls.notice(sid, message)
        return this.#store.replica.broadcast(json)
      default: {
        const shared = {
          state: record.state,
          account: sid,
          begin: () => {},
          change: (apply: (state: SessionState) => void) => this.#change(session, apply),
          openPage: () => Promise.resolve(),
        }
        const channel = this.#options.service.open({ outlet: standingOutlet(sid, this.#services), principal: record.principal, shared })
        channel.receive(message, SILENT)
        channel.close('The notification was handled')
      }
    }
  }

  async #read(sid: string, request: HttpRequestView, reply: HttpReply, principal: string | undefined): Promise<Refusal | undefined> {
    const session = await this.#enter(sid, principal)
    if ('status' in session) return session
    const { eventName } = session.record
    const { inFlight, open, usageOf } = this.#options
    const lastEventId = request.header('last-event-id')
    const place = lastEventId === undefined ? { stream: STANDING_STREAM, position: undefined } : readEventId(lastEventId, eventName)
    if (!place) return refuse(400, 'The last event id does not belong to this session')
    const { stream, position } = place
    const isStanding = stream === STANDING_STREAM
    if (isStanding && this.#isDraining) return DRAINING
    const usage = usageOf(principal, request.remoteAddress)
    const full = inFlight.checkStreams(usage, open.size)
    if (full) return full
    const attached = await this.#store.streams.attach(sid, stream, position, READ_AT_ONCE)
    if (isFault(attached)) {
      return refuse(400, attached === 'gone' ? 'The stream of that event id is no longer kept' : 'Events after that id are no longer kept')
    }
    if (reply.isGone) return undefined
    this.#calls.disconnect(sid, stream)
    const { events, isOver, reader } = attached
    // 204 tells a client not to reconnect. Without it the SDKs would reconnect for ever for a call that they cancelled.
    if (isOver && events.length === 0) {
      reply.send(204, {})
      return undefined
    }
    const sink = reply.open(EVENT_STREAM_HEADERS)
    const { tails } = this.#services
    const last = events.at(-1)?.position ?? position
    open.add({
      sink,
      usage,
      onTooOld: isStanding ? () => tails.breakOff(sid, stream) : undefined,
      endsAt: reply.endsAt,
      onEnded: () => tails.breakOff(sid, stream),
    })
    tails.add({ sid, stream, eventName, reader, position: last, sink })
    sink.write(':\n\n')
    for (const each of events) sink.write(eventText(each.json, eventIdOf(eventName, stream, each.position)))
    if (isOver) tails.end(sid, stream)
    else tails.wake(sid, stream)
    return undefined
  }

  async #end(sid: string, reply: HttpReply, principal: string | undefined): Promise<Refusal | undefined> {
    const session = await this.#enter(sid, principal)
    if ('status' in session) return session
    await this.#forget(sid, session.record)
    this.#close(sid)
    await this.#store.replica.broadcast(JSON.stringify({ kind: 'end', sid } satisfies ReplicaNotice))
    if (!reply.isGone) reply.send(204, {})
    return undefined
  }

  #close(sid: string): void {
    this.#calls.endSession(sid, 'The client ended the session')
    this.#services.tails.endSession(sid)
  }

  #onMessage(message: StoreMessage): void {
    const { tails } = this.#services
    switch (message.kind) {
      case 'wake':
        return tails.wake(message.sid, message.stream)
      case 'superseded':
        tails.supersede(message.sid, message.stream, message.reader)
        return this.#calls.disconnect(message.sid, message.stream)
      case 'answered':
        return this.#calls.takeAnswer(message.sid, message.stream, message.question, message.json)
      case 'message':
        return this.#onNotice(JSON.parse(message.json) as ReplicaNotice)
      case 'missed':
        return this.#lookAgain()
      case 'lost':
        return this.#onLost(message.reason)
    }
  }

  #onNotice(notice: ReplicaNotice): void {
    if (notice.kind === 'end') return this.#close(notice.sid)
    if (notice.kind === 'change') return this.#options.service.onRemoteChange?.(notice.change)
    if (notice.kind === 'left') return void this.#dead.look().catch((error: unknown) => this.#report(error))
    if (notice.kind !== 'notice') return
    const { method, params } = JSON.parse(notice.json) as NotificationMessage
    this.#calls.notice(notice.sid, { kind: 'notification', method, params } as NotificationMessage)
  }

  /** Others may continue what this replica ran, so it must not write any more. */
  #onLost(reason: string): void {
    this.#services.tails.destroyAll()
    this.#calls.fenceAll(`This replica lost its lease: ${reason}`)
    this.#join()
  }

  #join(): void {
    if (!this.#isClosed) this.#store.replica.join().catch((error: unknown) => this.#report(error))
  }

  /** Looks for replicas that died, and for what messages may have failed to say. */
  #tend(): void {
    const { clock } = this.#options
    const { leaseMs } = this.#store.replica
    // Replicas do not look at the same moment.
    this.#timer = clock.after(Math.min(LOOK_MS, leaseMs / 4) * (0.8 + 0.4 * Math.random()), () => {
      if (clock.now() - this.#lookedAgainAt >= leaseMs / 4) this.#lookAgain()
      this.#dead
        .look()
        .catch((error: unknown) => this.#report(error))
        .finally(() => !this.#isClosed && this.#tend())
    })
  }

  #lookAgain(): void {
    this.#lookedAgainAt = this.#options.clock.now()
    this.#lookingAgain ??= this.#lookOnce()
      .catch((error: unknown) => this.#report(error))
      .finally(() => {
        this.#lookingAgain = undefined
      })
  }

  async #lookOnce(): Promise<void> {
    const { tails } = this.#services
    tails.wakeAll()
    await this.#ids.renew(this.#options.clock.now())
    await this.#calls.lookAgain()
    const now = this.#options.clock.now()
    if (now - this.#keptAt < this.#options.limits.sessionIdleMs / 4) return
    this.#keptAt = now
    for (const sid of tails.sids()) {
      const entered = await this.#store.sessions.enter(sid, undefined, 0)
      if (typeof entered !== 'string' && entered.isTopicRenewalDue) this.#renewTopics(sid, JSON.parse(entered.record) as SessionRecord)
    }
  }

  /** At most one report a second: a store that is down fails every request. */
  #report(error: unknown): void {
    const now = this.#options.clock.now()
    if (this.#isClosed || now - this.#lastReport < 1000) return
    this.#lastReport = now
    console.error('portico: sessions of several replicas:', error instanceof Error ? error.message : error)
  }
}
