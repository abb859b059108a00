/** The transport of the oldest revision (HTTP+SSE): a GET stream for the server, POSTs for the client, connected by a session id. */

import { randomId } from '../../base/bytes.ts'
import type { Incoming } from '../../jsonrpc/message.ts'
import type { Outlet } from '../../jsonrpc/outlet.ts'
import type { Access } from '../../protocol/interfaces/access.ts'
import type { Channel, EndCause, Service } from '../../protocol/interfaces/service.ts'
import { expectsAnswer, requestsIn } from './expects-answer.ts'
import type { AllHttpLimits } from './fixed-limits.ts'
import { BodyMemory } from './limits/body-memory.ts'
import { refuseMore, SESSION_LIMITS } from './limits/caller-limits.ts'
import type { CallerUsage } from './limits/caller-usage.ts'
import type { InFlight } from './limits/in-flight.ts'
import type { SharedLimits } from './limits/shared-limits.ts'
import { about, busy, DRAINING_REPLICA, type Refusal, refuse } from './refusal.ts'
import type { HttpReply, HttpRequestView } from './runtime/request-reply.ts'
import { NOT_FOUND } from './session/check-request.ts'
import type { HttpPost } from './stateless.ts'
import { MAX_MISSED_PINGS, type OpenStreams } from './streams/open-streams.ts'
import { PlainStream } from './streams/plain-stream.ts'

export interface LegacySseOptions {
  service: Service
  limits: AllHttpLimits
  inFlight: InFlight
  open: OpenStreams
  now(): number
  /** Sends a refusal of a message that was found out later. */
  refuse(reply: HttpReply, refusal: Refusal, message: Incoming): void
}

interface LegacySession {
  principal: string | undefined
  usage: CallerUsage
  channel: Channel
  stream: PlainStream
  inFlight: number
  /** Accepts no new requests, and ends when those in progress are answered. */
  isRetired: boolean
  pingedAt: number
  missedPings: number
}

/** Passes messages on to the replica that has the stream of their session. */
export interface LegacyRelay {
  /** Calls `connect` with an id that names this replica, or refuses while others do not know it. `admit` calls it if there is room. */
  open(
    principal: string | undefined,
    reply: HttpReply,
    admit: (open: () => Refusal | undefined) => Promise<Refusal | undefined>,
    connect: (id: string) => Refusal | undefined,
  ): void
  /** Sends a message, and answers the POST with what the other replica says. Until then its body counts. */
  pass(id: string, message: Incoming, post: Pick<HttpPost, 'reply' | 'principal' | 'access' | 'body'>): void
}

export class LegacySse {
  /** Set if there are other replicas. */
  shared: { relay: LegacyRelay; limits: SharedLimits } | undefined
  readonly #options: LegacySseOptions
  readonly #sessions = new Map<string, LegacySession>()
  #stopTending: (() => void) | undefined

  constructor(options: LegacySseOptions) {
    this.#options = options
  }

  /**
   * Opens the stream for everything that the server sends. Its first event names the URL for POSTs.
   *
   * @param usageOf called when the stream is opened: with a relay that is later
   */
  connect(request: HttpRequestView, reply: HttpReply, principal: string | undefined, usageOf: () => CallerUsage): Refusal | undefined {
    const connect = (id: string): Refusal | undefined => this.#connect(id, request, reply, principal, usageOf())
    if (!this.shared) return connect(randomId())
    const { relay, limits } = this.shared
    return void relay.open(principal, reply, (open) => limits.admitLegacySession(usageOf(), open), connect)
  }

  #connect(id: string, request: HttpRequestView, reply: HttpReply, principal: string | undefined, usage: CallerUsage): Refusal | undefined {
    const { service, open, now } = this.#options
    if (reply.isGone) return undefined
    // Since the request came.
    if (open.isEnding) return DRAINING_REPLICA
    const full = this.#checkRoom(usage)
    if (full) return full
    const end = (): void => this.#end(id, 'The client closed its stream')
    const push = (json: string): undefined | Promise<void> => stream.push(json)
    // First: if this fails, there is no stream that has to end.
    const channel = service.open({
      outlet: { push, answer: (json) => void push(json), drop: () => {} },
      principal,
      address: usage.key || undefined,
    })
    const stream = new PlainStream(reply, open, usage, () => this.#retire(id), end)
    usage.legacySessions++
    this.#sessions.set(id, { principal, usage, channel, stream, inFlight: 0, isRetired: false, pingedAt: now(), missedPings: 0 })
    this.#stopTending ??= open.everyTick(() => this.#tend())
    stream.event('endpoint', `${messagesPath(request.url)}?sessionId=${id}`)
    return undefined
  }

  receive(message: Incoming, post: Omit<HttpPost, 'accepts' | 'usage'>): Refusal | undefined {
    const id = /[?&]sessionId=([\w.-]+)/.exec(post.request.url)?.[1]
    if (id === undefined) return refuse(400, 'The query must contain the sessionId from the endpoint event')
    if (this.shared && !this.has(id)) return void this.shared.relay.pass(id, message, post)
    const { reply } = post
    const accept = (): void => {
      if (!reply.isGone) reply.send(202, {})
    }
    return this.#take(id, message, post, accept, (refusal) => this.#options.refuse(reply, refusal, message))
  }

  /** Whether the stream of this session is here. */
  has(id: string): boolean {
    return this.#sessions.has(id)
  }

  /**
   * Takes a message that another replica has received, or another endpoint of this one.
   *
   * @param onRefused gets a refusal that was found out later
   */
  takePassed(
    id: string,
    message: Incoming,
    caller: Pick<HttpPost, 'principal' | 'access'>,
    bytes: number,
    onAccepted: () => void,
    onRefused: (refusal: Refusal) => void,
  ): Refusal | undefined {
    const session = this.#sessions.get(id)
    if (!session) return NOT_FOUND
    const body = new BodyMemory(this.#options.inFlight, session.usage)
    body.requests = requestsIn(message)
    const hasRoom = !expectsAnswer(message) || body.grow(bytes)
    const refusal = hasRoom ? this.#take(id, message, { ...caller, body }, onAccepted, onRefused) : body.refusal
    if (!body.isInFlight) body.release()
    return refusal
  }

  /**
   * @param onAccepted called before the message has any effect
   * @param onRefused gets a refusal that was found out after the store was asked
   */
  #take(
    id: string,
    message: Incoming,
    { principal, access, body }: Pick<HttpPost, 'principal' | 'access' | 'body'>,
    onAccepted: () => void,
    onRefused: (refusal: Refusal) => void,
  ): Refusal | undefined {
    const session = this.#sessions.get(id)
    if (session?.principal !== principal || !session) return NOT_FOUND
    if (message.kind === 'malformed') return about(refuse(400, message.error.message, { code: message.error.code }), message.id)
    if (message.kind === 'ignored') return refuse(400, message.reason)
    const hasAnswer = expectsAnswer(message)
    const receive = (): undefined => {
      onAccepted()
      const outlet = this.#outletOf(id, session, hasAnswer, access, body)
      try {
        session.channel.receive(message, outlet)
      } catch (error) {
        outlet.drop()
        throw error
      }
    }
    if (!hasAnswer) return receive()
    const enter = (): Refusal | undefined => {
      // The session or the server may have ended while the store was asked.
      if (this.#options.open.isEnding) return DRAINING_REPLICA
      const isOver = session.isRetired || this.#sessions.get(id) !== session
      return (isOver ? NOT_FOUND : this.#enter(session, body)) ?? receive()
    }
    if (!this.shared) return enter()
    // The answer does not need the connection of the POST.
    const request = { usage: session.usage, body, reply: { isGone: false } }
    return this.shared.limits.admit(message, request, enter, onRefused)
  }

  endAll(reason: string, cause: EndCause): void {
    for (const id of [...this.#sessions.keys()]) this.#end(id, reason, cause)
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Every session has an open stream, so none is idle and could be closed for a new one. */
  #checkRoom(usage: CallerUsage): Refusal | undefined {
    const { limits, inFlight, open } = this.#options
    const { maxSessions } = limits
    if (this.#sessions.size >= maxSessions) return busy(503, 'maxSessions', maxSessions, 'sessions')
    return refuseMore(limits, SESSION_LIMITS, usage, usage.legacySessions) ?? inFlight.checkStreams(usage, open.size)
  }

  #enter(session: LegacySession, body: BodyMemory): Refusal | undefined {
    const { inFlight, limits } = this.#options
    const max = limits.maxInFlightPerSession
    if (session.inFlight + body.requests > max)
      return busy(429, 'maxInFlightPerSession', max, 'requests at once in this session', body.requests)
    const full = inFlight.enter(session.usage, body)
    if (!full) session.inFlight += body.requests
    return full
  }

  #outletOf(id: string, session: LegacySession, hasAnswer: boolean, sender: Access, body: BodyMemory): Outlet {
    let counts = hasAnswer
    const over = (): void => {
      if (!counts) return
      counts = false
      session.inFlight -= body.requests
      this.#options.inFlight.leave(session.usage, body)
      if (session.isRetired) queueMicrotask(() => this.#retire(id))
    }
    return {
      sender,
      arrival: body.arrival,
      push: (json) => session.stream.push(json),
      answer: (json) => {
        void session.stream.push(json)
        over()
      },
      drop: over,
    }
  }

  /** Pings idle clients, because a silently broken connection is not noticed otherwise. */
  #tend(): void {
    const { limits, now } = this.#options
    for (const [id, session] of this.#sessions) {
      if (session.inFlight > 0 || now() - session.pingedAt < limits.pingMs) continue
      session.pingedAt = now()
      session.channel.ping(limits.pingMs / 3).then(
        () => {
          session.missedPings = 0
        },
        () => {
          if (++session.missedPings >= MAX_MISSED_PINGS) this.#end(id, 'The client does not answer pings')
        },
      )
    }
  }

  #retire(id: string): void {
    const session = this.#sessions.get(id)
    if (!session) return
    session.isRetired = true
    if (session.inFlight === 0) this.#end(id, 'The stream is too old')
  }

  #end(id: string, reason: string, cause?: EndCause): void {
    const session = this.#sessions.get(id)
    if (!session) return
    this.#sessions.delete(id)
    session.usage.legacySessions--
    session.channel.close(reason, cause)
    session.stream.finish(undefined)
    if (this.#sessions.size > 0) return
    this.#stopTending?.()
    this.#stopTending = undefined
  }
}

/** The path for POSTs, next to the path of the stream. */
function messagesPath(url: string): string {
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  return `${path.slice(0, path.lastIndexOf('/') + 1)}messages`
}
