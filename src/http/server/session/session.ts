/** One session over HTTP: who it belongs to, the conversation in it, and when it was last used. */

import { randomId } from '../../../base/bytes.ts'
import { INVALID_REQUEST, PARSE_ERROR } from '../../../jsonrpc/message.ts'
import type { Outlet } from '../../../jsonrpc/outlet.ts'
import type { Channel, Service } from '../../../protocol/seams/service.ts'
import type { BodyMemory } from '../limits/body-memory.ts'
import type { CallerUsage, HeldSession } from '../limits/caller-usage.ts'
import type { InFlight } from '../limits/in-flight.ts'
import type { KeptBytes } from '../limits/kept-bytes.ts'
import type { HttpLimits } from '../options.ts'
import { busy, type Refusal } from '../refusal.ts'
import type { HttpReply } from '../runtime/view.ts'
import type { OpenStreams } from '../streams/open-streams.ts'
import type { AnswerStream, ReplyOwner } from '../streams/reply-outlet.ts'
import type { SlowAnswers } from '../streams/slow-answers.ts'
import { SessionStreams } from './session-streams.ts'

/** What all sessions share. */
export interface SessionServices {
  service: Service
  limits: HttpLimits
  inFlight: InFlight
  open: OpenStreams
  kept: KeptBytes
  now(): number
}

/** There may be many thousands, most of them idle: everything that is not always needed is made when it is. */
export class HttpSession implements Outlet, ReplyOwner, HeldSession {
  readonly id = randomId()
  readonly principal: string | undefined
  /** Whoever opened it: what happens in it counts as theirs. */
  readonly usage: CallerUsage
  readonly channel: Channel
  readonly createdAt: number
  readonly #services: SessionServices
  #streams: SessionStreams | undefined
  #seenAt: number
  /** Something came since the session was last looked at: cheaper to note than the time. */
  #isUsed = false
  #inFlight = 0

  constructor(principal: string | undefined, usage: CallerUsage, services: SessionServices) {
    this.#services = services
    this.usage = usage
    this.principal = principal
    this.createdAt = services.now()
    this.#seenAt = this.createdAt
    this.channel = services.service.open({ outlet: this, principal })
  }

  /** Counts a request in hand; a refusal when there are too many. */
  enter(): Refusal | undefined {
    const max = this.#services.limits.maxInFlightPerSession
    if (this.#inFlight >= max) return busy(429, 'maxInFlightPerSession', max, 'requests at once in this session')
    this.#inFlight++
    return undefined
  }

  onOver(body: BodyMemory): void {
    this.#inFlight--
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
    // Before the handshake is answered nobody can use it.
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

  /** As an outlet, the session takes what belongs to no request. */
  push(json: string): undefined | Promise<void> {
    return this.#allStreams.push(json)
  }

  answer(json: string): void {
    void this.push(json)
  }

  drop(): void {}

  /** Does what has to be done now and then. True when the session has expired. */
  tend(now: number): boolean {
    const { sessionIdleMs, sessionMaxAgeMs } = this.#services.limits
    if (now - this.createdAt >= sessionMaxAgeMs) return true
    this.#streams?.tend(now)
    if (this.#isUsed || this.#inFlight > 0 || this.#streams?.isAttended) this.#seenAt = now
    this.#isUsed = false
    return now - this.#seenAt >= sessionIdleMs
  }

  close(reason: string): void {
    this.channel.close(reason)
    this.#streams?.close()
  }

  /** Lets a client that only waits come back elsewhere. */
  breakOff(): void {
    this.#streams?.breakOff()
  }

  get #allStreams(): SessionStreams {
    this.#streams ??= new SessionStreams(this.channel, this.usage, this.#services)
    return this.#streams
  }
}

/** A message that is no proper request shows in the status; an error of its handler does not. */
export const statusOf = (errorCode: number | undefined): number => (errorCode === INVALID_REQUEST || errorCode === PARSE_ERROR ? 400 : 200)
