/** Handles POST, GET and DELETE of the revisions with sessions when several replicas serve them. */

import type { Clock, Timer } from '../../../base/clock.ts'
import type { Incoming, RequestMessage } from '../../../jsonrpc/message.ts'
import type { Service } from '../../../protocol/interfaces/service.ts'
import { isDown, isNotRun } from '../../../store/faults.ts'
import type { SharedStore } from '../../../store/shared-store.ts'
import { expectsAnswer } from '../expects-answer.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import { acceptsOf } from '../guard.ts'
import type { LegacyRelay, LegacySse } from '../legacy-sse.ts'
import type { BodyMemory } from '../limits/body-memory.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import type { InFlight } from '../limits/in-flight.ts'
import type { HealthCheck } from '../operations/health.ts'
import type { HttpOptions } from '../options.ts'
import { DRAINING_REPLICA, INTERNAL, type Refusal } from '../refusal.ts'
import type { HttpReply, HttpRequestView } from '../runtime/request-reply.ts'
import { checkBatch, checkSessionHeaders, checkSessionVersion, checkShape, NO_EVENTS, NO_SESSION_ID } from '../session/check-request.ts'
import type { SessionEndpoint } from '../session/session-endpoint.ts'
import type { HttpPost } from '../stateless.ts'
import type { OpenStreams } from '../streams/open-streams.ts'
import { Announcements } from './announcements.ts'
import { beginSession } from './begin-session.ts'
import { ClientNotices } from './client-notices.ts'
import { DeadReplicas, type TakenOverCounts } from './dead-replicas.ts'
import { faultsOf } from './fault-reports.ts'
import { KeptShares } from './kept-shares.ts'
import { LateEnds } from './late-ends.ts'
import { SharedLegacy } from './legacy-relay.ts'
import { boundsOf } from './log-bounds.ts'
import { callNames } from './open-call.ts'
import { producerOf } from './producer.ts'
import type { ReplicaListener, StoreHint } from './replica-messages.ts'
import type { ReplicaNotice } from './replica-notice.ts'
import type { ReplicaServices } from './replica-services.ts'
import { RunningCalls } from './running-calls.ts'
import { SessionEntries } from './session-entries.ts'
import { SharedPages } from './shared-pages.ts'
import { StandingStreams } from './standing-stream.ts'
import { storeRefusal, UNUSABLE } from './store-refusal.ts'
import { StreamReaders } from './stream-readers.ts'
import { Tails } from './tails.ts'
import { Upkeep } from './upkeep.ts'

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
  /** Counts a request of another replica, which runs here from now on, at all replicas. */
  hold(usage: CallerUsage): void
  /** Sends a refusal that was found out later, with the id of the message. */
  refuse(reply: HttpReply, refusal: Refusal, message: Incoming | undefined): void
  /** Called after the requests of a replica that ended were taken over. */
  onTakenOver(counts: TakenOverCounts): void
}

/** How long a replica that ends waits for the store to accept the last events. */
const HAND_OVER_MS = 2000

export class SharedSessions implements SessionEndpoint, ReplicaListener {
  readonly methods = 'POST, GET, DELETE'
  readonly #options: SharedSessionsOptions
  readonly #services: ReplicaServices
  readonly #store: SharedStore
  readonly #entries: SessionEntries
  readonly #announcements: Announcements
  readonly #dead: DeadReplicas
  readonly #upkeep: Upkeep
  readonly #calls: RunningCalls
  readonly #notices: ClientNotices
  readonly #readers: StreamReaders
  readonly #stopListening: (() => void)[] = []
  /** What requests wait for. */
  readonly #asked = new Set<Promise<void>>()
  #isEnding = false
  #isClosed = false

  constructor(options: SharedSessionsOptions) {
    const { store, service, limits, inFlight, open, clock } = options
    this.#options = options
    this.#store = store
    const faults = faultsOf(store, clock)
    const { nextBatch, endpoints, messages } = producerOf(store)
    endpoints.add(this)
    const report = (error: unknown): void => {
      if (!this.#isClosed) faults.report(error)
    }
    const tails = new Tails(store, open, report)
    const bounds = boundsOf(limits)
    this.#services = {
      service,
      store,
      limits,
      inFlight,
      open,
      clock,
      bounds,
      shares: new KeptShares(limits, clock),
      tails,
      standing: new StandingStreams({ store, bounds, nextBatch, tails }),
      lateEnds: new LateEnds({ store, bounds, nextBatch, tails, report }),
      pages: new SharedPages(store.counters, limits.sessionIdleMs),
      messages,
      nextBatch,
      report,
    }
    this.#entries = new SessionEntries({
      ...this.#services,
      onEnded: ({ state }) => service.onSessionEnd?.(state),
      onGone: (sid) => this.#endHere(sid, 'The session has ended'),
    })
    this.#announcements = new Announcements(this.#services)
    this.#calls = new RunningCalls({
      services: this.#services,
      usageOf: options.usageOf,
      bodyOf: options.bodyOf,
      hold: options.hold,
      change: (session, apply, bounds) => this.#entries.change(session, apply, bounds),
    })
    this.#notices = new ClientNotices(this.#services, this.#entries, this.#calls)
    this.#readers = new StreamReaders(this.#services, this.#calls, options.usageOf)
    this.#dead = new DeadReplicas(this.#services, this.#calls, (counts) => options.onTakenOver(counts))
    this.#upkeep = new Upkeep({ services: this.#services, entries: this.#entries, calls: this.#calls, dead: this.#dead, faults })
    const stop = service.onAnnouncement?.((announcement) => this.#announcements.hear(announcement))
    if (stop) this.#stopListening.push(stop)
    this.#stopListening.push(messages.listen(this))
    this.#upkeep.begin()
  }

  /** Passes messages of the oldest transport on to other replicas, and takes theirs. */
  relayFor(legacy: LegacySse): LegacyRelay {
    const { store, clock } = this.#options
    const { ids } = this.#entries
    const relay = new SharedLegacy({ store, clock, ids, legacy, later: (work, reply, message) => this.#later(work, reply, message) })
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
    const id = request.header('mcp-session-id')
    const isHandshake = id === undefined && message.kind === 'request' && message.method === 'initialize'
    if (id === undefined && !isHandshake) return checkShape(message) ?? NO_SESSION_ID
    if (!expectsAnswer(message)) {
      // Counted until the store has it. The place of a request is not needed.
      body.isInFlight = true
      this.#later(
        this.#take(id as string, message, post).finally(() => body.release()),
        reply,
        message,
      )
      return undefined
    }
    const full = inFlight.enter(usage, body)
    if (full) return full
    this.#later(id === undefined ? this.#begin(message as RequestMessage, post) : this.#call(id, message, post), reply, message)
    return undefined
  }

  get(request: HttpRequestView, reply: HttpReply, principal: string | undefined): Refusal | undefined {
    const version = checkSessionVersion(request, this.#options.service)
    if (version) return version
    const id = request.header('mcp-session-id')
    if (id === undefined) return NO_SESSION_ID
    if (!acceptsOf(request.header('accept')).events) return NO_EVENTS
    const reading = async (): Promise<Refusal | undefined> => {
      const session = await this.#entries.enter(id, principal)
      return 'status' in session ? session : this.#readers.read(session, request, reply)
    }
    this.#later(reading(), reply)
    return undefined
  }

  delete(request: HttpRequestView, reply: HttpReply, principal: string | undefined): Refusal | undefined {
    const version = checkSessionVersion(request, this.#options.service)
    if (version) return version
    const id = request.header('mcp-session-id')
    if (id === undefined) return NO_SESSION_ID
    this.#later(this.#end(id, reply, principal), reply)
    return undefined
  }

  /** Whether the store has ever accepted this replica. */
  get hasJoined(): boolean {
    return this.#upkeep.hasJoined
  }

  /** True from the beginning of the shutdown: it runs nothing new. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  release(): void {
    this.#isEnding = true
    void this.#dead.stop()
    this.#services.tails.breakOffAll()
  }

  /** A replica that cannot read what the others store gets no requests: the others can answer, and an update that brings wrong keys ends here. */
  readonly checkKeys: HealthCheck = async () => {
    if (this.#store.health() !== undefined) return { state: 'degraded', reason: 'Not checked, because the store cannot be used' }
    const reason = await this.#entries.ids.fault()
    return reason === undefined ? undefined : { state: 'down', reason }
  }

  /** Leaves what runs here to the other replicas. The sessions live on there. */
  async endAll(reason: string): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#isEnding = true
    this.#upkeep.end()
    this.#announcements.stop()
    for (const stop of this.#stopListening) stop()
    this.#services.tails.breakOffAll()
    const { endpoints } = producerOf(this.#store)
    try {
      // The others take over what a replica ran when its lease ends, and another endpoint may keep the lease.
      await this.#handOverAll(reason, ![...endpoints].some(({ isEnding }) => !isEnding))
    } finally {
      endpoints.delete(this)
    }
    if (endpoints.size > 0) return
    // What the store has not taken in time.
    this.#calls.fenceAll(reason)
    await this.#upkeep.leave()
  }

  /** Waits until the store has it, but not for ever. */
  async #handOverAll(reason: string, isTakenOver: boolean): Promise<void> {
    let timer: Timer | undefined
    const waited = new Promise<void>((resolve) => {
      timer = this.#options.clock.after(HAND_OVER_MS, resolve)
    })
    // The store lets a replica join again for a request that it is still asked about.
    const asked = Promise.all([...this.#asked])
    const handedOver = this.#calls.handOverAll(reason, isTakenOver)
    const ended = Promise.all([handedOver, this.#dead.stop(), this.#services.lateEnds.tryAll(), asked])
    await Promise.race([ended, waited]).catch(() => {})
    timer?.cancel()
  }

  /** Sends the refusal of a request that needed the store. */
  #later(work: Promise<Refusal | undefined>, reply: HttpReply, message?: Incoming): void {
    const asked = work
      .catch((error: unknown) => {
        const known = storeRefusal(error)
        if (!known || known === UNUSABLE) this.#services.report(error)
        return known ?? INTERNAL
      })
      .then((refusal) => {
        this.#asked.delete(asked)
        if (refusal) this.#options.refuse(reply, refusal, message)
      })
    this.#asked.add(asked)
  }

  async #call(id: string, message: Incoming, post: HttpPost): Promise<Refusal | undefined> {
    const names = callNames(message)
    const session = await this.#admitted(post, this.#entries.enter(id, post.principal, names))
    if ('status' in session) return session
    if (this.#isClosed) {
      this.#options.inFlight.leave(post.usage, post.body)
      await this.#entries.leave(session.sid, names)
      return DRAINING_REPLICA
    }
    this.#calls.start(session, message, names, post)
    return undefined
  }

  async #begin(message: RequestMessage, post: HttpPost): Promise<Refusal | undefined> {
    const { service, inFlight } = this.#options
    const entries = this.#entries
    const session = await this.#admitted(post, entries.create(post.usage, post.principal))
    if ('status' in session) return session
    beginSession(session, message, post, { service, inFlight, entries, later: (work) => this.#later(work, post.reply, message) })
    return undefined
  }

  /** A request that is refused, or fails, before it begins does not count. From then on its part takes it out of the counts. */
  async #admitted<T extends object>({ usage, body }: HttpPost, admission: Promise<T | Refusal>): Promise<T | Refusal> {
    let isAdmitted = false
    try {
      const admitted = await admission
      isAdmitted = !('status' in admitted)
      return admitted
    } finally {
      if (!isAdmitted) this.#options.inFlight.leave(usage, body)
    }
  }

  /** Handles messages that get no answer. */
  async #take(id: string, message: Incoming, { reply, principal }: HttpPost): Promise<Refusal | undefined> {
    const session = await this.#entries.enter(id, principal)
    if ('status' in session) return session
    const fault = checkShape(message) ?? checkBatch(message, session.record.state.version)
    if (fault) return fault
    for (const each of message.kind === 'batch' ? message.messages : [message]) await this.#notices.take(session, each)
    if (!reply.isGone) reply.send(202, {})
    return undefined
  }

  async #end(id: string, reply: HttpReply, principal: string | undefined): Promise<Refusal | undefined> {
    const session = await this.#entries.enter(id, principal)
    if ('status' in session) return session
    const { sid, record } = session
    const { messages, report } = this.#services
    let fault: unknown
    await this.#store.sessions.end(sid).catch((error: unknown) => {
      // The store may have ended it. Then a repetition of the request would find no session.
      if (!isDown(error) || isNotRun(error)) throw error
      fault = error
    })
    await Promise.all([messages.hintAll({ kind: 'end', sid }, report), this.#entries.leaveTopics(sid, record)])
    this.#options.service.onSessionEnd?.(record.state)
    if (fault !== undefined) throw fault
    if (!reply.isGone) reply.send(204, {})
    return undefined
  }

  #endHere(sid: string, reason: string): void {
    this.#calls.endSession(sid, reason)
    this.#services.tails.endSession(sid)
  }

  hear(hint: StoreHint): void {
    const { tails } = this.#services
    switch (hint.kind) {
      case 'wake':
        return tails.wake(hint.sid, hint.stream)
      case 'superseded':
        tails.supersede(hint.sid, hint.stream, hint.reader)
        return this.#calls.disconnect(hint.sid, hint.stream)
      case 'answered':
        return this.#calls.takeAnswer(hint.sid, hint.stream, hint.question, hint.json)
      case 'missed':
        this.#options.service.onMissedChanges?.()
        return this.#upkeep.lookAgain()
      case 'lost':
        return this.#upkeep.onLost(hint.reason)
    }
  }

  take(notice: ReplicaNotice): void {
    switch (notice.kind) {
      case 'end':
        return this.#endHere(notice.sid, 'The client ended the session')
      case 'change':
        return this.#options.service.onRemoteChange?.(notice.change)
      case 'left':
        return this.#upkeep.lookForDead()
      case 'reader':
        return this.#calls.attend(notice.sid, notice.stream, notice.reader, notice.isThere)
      case 'notice':
        return this.#calls.notice(notice.sid, { kind: 'notification', method: notice.method, params: notice.params })
    }
  }
}
