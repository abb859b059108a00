/** Handles POST, GET and DELETE of the revisions with sessions. */

import type { Incoming, RequestMessage } from '../../../jsonrpc/message.ts'
import type { Outlet } from '../../../jsonrpc/outlet.ts'
import type { Service } from '../../../protocol/interfaces/service.ts'
import { VERSION_WITHOUT_HEADER } from '../../../revisions/route.ts'
import { expectsAnswer } from '../expects-answer.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import { acceptsOf } from '../guard.ts'
import type { UsageByCaller } from '../limits/caller-usage.ts'
import type { InFlight } from '../limits/in-flight.ts'
import type { KeptBytes } from '../limits/kept-bytes.ts'
import type { HttpOptions } from '../options.ts'
import { JSON_TYPE, type Refusal, refuse } from '../refusal.ts'
import type { HttpReply, HttpRequestView } from '../runtime/request-reply.ts'
import type { HttpPost } from '../stateless.ts'
import { EVENT_STREAM_HEADERS, eventText } from '../streams/event-stream.ts'
import type { OpenStreams } from '../streams/open-streams.ts'
import { ReplyOutlet } from '../streams/reply-outlet.ts'
import {
  checkBatch,
  checkSessionHeaders,
  checkSessionVersion,
  checkShape,
  NO_EVENTS,
  NO_SESSION_ID,
  NOT_FOUND,
  SILENT,
} from './check-request.ts'
import { HttpSession, statusOf } from './session.ts'
import type { SessionEndpoint } from './session-endpoint.ts'
import { SessionlessAnswer } from './sessionless-answer.ts'
import { Sessions } from './sessions.ts'

export interface SessionRequestsOptions {
  service: Service
  options: HttpOptions
  limits: AllHttpLimits
  inFlight: InFlight
  open: OpenStreams
  usages: UsageByCaller
  kept: KeptBytes
  now(): number
}

const NOT_HERE = refuse(405, 'Method not allowed; use POST', { headers: { allow: 'POST' } })

export class SessionRequests implements SessionEndpoint {
  readonly #service: Service
  readonly #options: SessionRequestsOptions
  readonly #sessions: Sessions
  readonly #keepsSessions: boolean

  constructor(options: SessionRequestsOptions) {
    const { service, limits, inFlight, open, kept, now, usages } = options
    this.#service = service
    this.#options = options
    this.#keepsSessions = options.options.sessions !== false
    this.#sessions = new Sessions({ service, limits, inFlight, open, kept, now }, usages)
  }

  get size(): number {
    return this.#sessions.size
  }

  get methods(): string {
    return this.#keepsSessions ? 'POST, GET, DELETE' : 'POST'
  }

  post(message: Incoming, post: HttpPost): Refusal | undefined {
    const { request, principal } = post
    const fault = checkSessionHeaders(message, request, this.#service, this.#options.options.requireMcpHeaders === true)
    if (fault) return fault
    const id = request.header('mcp-session-id')
    if (!this.#keepsSessions) return this.#postWithoutSession(message, post)
    if (id !== undefined) {
      const session = this.#sessions.find(id, principal)
      return session ? this.#postInto(session, message, post) : NOT_FOUND
    }
    if (message.kind === 'request' && message.method === 'initialize') return this.#initialize(message, post)
    return checkShape(message) ?? NO_SESSION_ID
  }

  get(request: HttpRequestView, reply: HttpReply, principal: string | undefined): Refusal | undefined {
    if (!this.#keepsSessions) return NOT_HERE
    const version = checkSessionVersion(request, this.#service)
    if (version) return version
    const session = this.#sessionOf(request, principal)
    if (!(session instanceof HttpSession)) return session
    if (!acceptsOf(request.header('accept')).events) return NO_EVENTS
    const lastEventId = request.header('last-event-id')
    return lastEventId === undefined ? session.listen(reply) : session.resume(reply, lastEventId)
  }

  delete(request: HttpRequestView, reply: HttpReply, principal: string | undefined): Refusal | undefined {
    if (!this.#keepsSessions) return NOT_HERE
    const version = checkSessionVersion(request, this.#service)
    if (version) return version
    const session = this.#sessionOf(request, principal)
    if (!(session instanceof HttpSession)) return session
    this.#sessions.end(session, 'The client ended the session')
    reply.send(204, {})
    return undefined
  }

  /** Ends the standing streams, so that clients reconnect elsewhere. */
  release(): void {
    this.#sessions.breakOffAll()
  }

  endAll(reason: string): void {
    this.#sessions.endAll(reason, 'shutdown')
  }

  #sessionOf(request: HttpRequestView, principal: string | undefined): HttpSession | Refusal {
    const id = request.header('mcp-session-id')
    if (id === undefined) return NO_SESSION_ID
    return this.#sessions.find(id, principal) ?? NOT_FOUND
  }

  #initialize(message: RequestMessage, { reply, principal, usage, access, accepts, body }: HttpPost): Refusal | undefined {
    const { inFlight } = this.#options
    const full = inFlight.enter(usage, body)
    if (full) return full
    const crowded = this.#sessions.checkRoom(usage)
    if (crowded) {
      inFlight.leave(usage, body)
      return crowded
    }
    let session: HttpSession
    try {
      session = this.#sessions.begin(principal, usage)
    } catch (error) {
      inFlight.leave(usage, body)
      throw error
    }
    let isOver = false
    const over = (): void => {
      isOver = true
      inFlight.leave(usage, body)
    }
    // The session also ends if the answer was sent but did not arrive: the client does not know the id then.
    reply.onGone = () => this.#sessions.end(session, 'The client disconnected during the handshake')
    const outlet: Outlet = {
      sender: access,
      arrival: body.arrival,
      push: () => undefined,
      answer: (json, errorCode) => {
        over()
        if (errorCode !== undefined) {
          this.#sessions.end(session, 'The handshake failed')
          return reply.send(statusOf(errorCode), JSON_TYPE, json)
        }
        if (reply.isGone) return this.#sessions.end(session, 'The client disconnected during the handshake')
        const headers = { 'mcp-session-id': session.id }
        if (accepts.json) reply.send(200, { ...JSON_TYPE, ...headers }, json)
        else reply.send(200, { ...EVENT_STREAM_HEADERS, ...headers }, eventText(json, undefined))
      },
      drop: () => {
        over()
        this.#sessions.end(session, 'The handshake was cancelled')
        if (!reply.isGone) reply.send(202, {})
      },
    }
    try {
      session.channel.receive(message, outlet)
    } catch (error) {
      if (!isOver) over()
      this.#sessions.end(session, 'The handshake failed')
      throw error
    }
    return undefined
  }

  #postInto(session: HttpSession, message: Incoming, { reply, access, accepts, body }: HttpPost): Refusal | undefined {
    session.touch()
    if (!expectsAnswer(message)) {
      const fault = checkShape(message) ?? checkBatch(message, session.channel.version)
      if (fault) return fault
      session.channel.receive(message, SILENT)
      reply.send(202, {})
      return undefined
    }
    const { inFlight } = this.#options
    const full = inFlight.enter(session.usage, body)
    if (full) return full
    const crowded = session.enter(body)
    if (crowded) {
      inFlight.leave(session.usage, body)
      return crowded
    }
    const outlet = new ReplyOutlet(reply, accepts, session, access, body)
    reply.onGone = () => outlet.abandon()
    try {
      session.channel.receive(message, outlet)
    } catch (error) {
      outlet.fail()
      throw error
    }
    return undefined
  }

  /** Answers a request of a session revision when sessions are off. */
  #postWithoutSession(message: Incoming, post: HttpPost): Refusal | undefined {
    const { request, reply, principal, usage, access, accepts, body } = post
    const isHandshake = message.kind === 'request' && message.method === 'initialize'
    const assumed = isHandshake ? undefined : (request.header('mcp-protocol-version') ?? VERSION_WITHOUT_HEADER)
    if (!expectsAnswer(message)) {
      const fault = checkShape(message) ?? checkBatch(message, assumed)
      if (!fault) reply.send(202, {})
      return fault
    }
    const full = this.#options.inFlight.enter(usage, body)
    if (full) return full
    const owner = new SessionlessAnswer(usage, this.#options)
    const outlet = new ReplyOutlet(reply, accepts, owner, access, body)
    owner.outlet = outlet
    reply.onGone = () => outlet.abandon()
    try {
      if (message.kind === 'request' && assumed !== undefined && this.#service.versions.includes(assumed)) {
        this.#service.answer(message, outlet, { version: assumed, principal, account: usage.key })
        return undefined
      }
      // The handshake and the requests of a batch need a channel, for this POST only.
      owner.channel = this.#service.open({ outlet: SILENT, principal, assumed, address: usage.key || undefined })
      owner.channel.receive(message, outlet)
    } catch (error) {
      outlet.fail()
      throw error
    }
    return undefined
  }
}
