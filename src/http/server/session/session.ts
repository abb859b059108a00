/** One session over HTTP: its owner, its channel, and when it was last used. */

import { randomId } from '../../../base/bytes.ts'
import { INVALID_REQUEST, PARSE_ERROR } from '../../../jsonrpc/message.ts'
import type { Outlet } from '../../../jsonrpc/outlet.ts'
import type { Channel, EndCause } from '../../../protocol/interfaces/service.ts'
import type { BodyMemory } from '../limits/body-memory.ts'
import type { CallerUsage, HeldSession } from '../limits/caller-usage.ts'
import { busy, ENDED, type Refusal } from '../refusal.ts'
import type { HttpReply } from '../runtime/request-reply.ts'
import type { AnswerStream, ReplyOwner } from '../streams/reply-outlet.ts'
import type { SlowAnswers } from '../streams/slow-answers.ts'
import { type SessionServices, SessionStreams } from './session-streams.ts'

/** One session. There may be many thousands, most of them idle, so its parts are created on first use. */
export class HttpSession implements Outlet, ReplyOwner, HeldSession {
  readonly id = randomId()
  readonly principal: string | undefined
  /** The usage of the caller that opened the session. Requests of the session are counted there. */
  readonly usage: CallerUsage
  readonly channel: Channel
  readonly createdAt: number
  readonly #services: SessionServices
  #streams: SessionStreams | undefined
  #seenAt: number
  /** Whether a message came since the last tick. Cheaper than storing the time. */
  #isUsed = false
  #inFlight = 0

  constructor(principal: string | undefined, usage: CallerUsage, services: SessionServices) {
    this.#services = services
    this.usage = usage
    this.principal = principal
    this.createdAt = services.now()
    this.#seenAt = this.createdAt
    this.channel = services.service.open({ outlet: this, principal, address: usage.key || undefined, shutdownError: ENDED })
  }

  /** Counts requests in progress, or refuses them when there are too many. */
  enter({ requests }: BodyMemory): Refusal | undefined {
    const max = this.#services.limits.maxInFlightPerSession
    if (this.#inFlight + requests > max) return busy(429, 'maxInFlightPerSession', max, 'requests at once in this session', requests)
    this.#inFlight += requests
    return undefined
  }

  onOver(body: BodyMemory): void {
    this.#inFlight -= body.requests
    this.#isUsed = true
    this.#services.inFlight.leave(this.usage, body)
  }

  onAbandoned(): void {
    this.#services.inFlight.abandon(this.usage)
  }

  onAbandonedOver(): void {
    this.#services.inFlight.unabandon(this.usage)
  }

  get idleSince(): number | undefined {
    // Until the handshake is answered the client cannot use the session, so it does not count as idle.
    const isBusy = this.channel.version === undefined || this.#inFlight > 0 || this.#streams?.isAttended
    if (isBusy) return undefined
    return this.#isUsed ? this.#services.now() : this.#seenAt
  }

  statusOf(errorCode: number | undefined): number {
    return statusOf(errorCode)
  }

  get slow(): SlowAnswers {
    return this.#services.open.slow
  }

  touch(): void {
    this.#isUsed = true
  }

  beginAnswer(reply: HttpReply): AnswerStream {
    return this.#allStreams.beginAnswer(reply)
  }

  answerAsEvent(reply: HttpReply, json: string): void {
    this.#allStreams.answerAsEvent(reply, json)
  }

  listen(reply: HttpReply): Refusal | undefined {
    this.#isUsed = true
    return this.#allStreams.listen(reply)
  }

  resume(reply: HttpReply, lastEventId: string): Refusal | undefined {
    this.#isUsed = true
    return this.#allStreams.resume(reply, lastEventId)
  }

  /** As an outlet, the session takes messages that belong to no request. */
  push(json: string): undefined | Promise<void> {
    return this.#allStreams.push(json)
  }

  answer(json: string): void {
    void this.push(json)
  }

  drop(): void {}

  /** Called on every tick. Returns true when the session has expired. */
  tend(now: number): boolean {
    const { sessionIdleMs, sessionMaxAgeMs } = this.#services.limits
    if (now - this.createdAt >= sessionMaxAgeMs) return true
    this.#streams?.tend(now)
    if (this.#isUsed || this.#inFlight > 0 || this.#streams?.isAttended) this.#seenAt = now
    this.#isUsed = false
    return now - this.#seenAt >= sessionIdleMs
  }

  close(reason: string, cause?: EndCause): void {
    this.channel.close(reason, cause)
    this.#streams?.close()
  }

  /** Ends the standing stream, so that the client reconnects elsewhere. */
  breakOff(): void {
    this.#streams?.breakOff()
  }

  get #allStreams(): SessionStreams {
    this.#streams ??= new SessionStreams(this.channel, this.usage, this.#services)
    return this.#streams
  }
}

/** An invalid message sets the status. An error of its handler does not. */
export const statusOf = (errorCode: number | undefined): number => (errorCode === INVALID_REQUEST || errorCode === PARSE_ERROR ? 400 : 200)
