/** The answer to one POST of a revision with sessions when sessions are off. A client that disconnects does not cancel it. */

import type { Channel } from '../../../protocol/interfaces/service.ts'
import type { BodyMemory } from '../limits/body-memory.ts'
import type { CallerUsage } from '../limits/caller-usage.ts'
import type { InFlight } from '../limits/in-flight.ts'
import type { HttpReply } from '../runtime/request-reply.ts'
import { EVENT_STREAM_HEADERS, eventText } from '../streams/event-stream.ts'
import type { OpenStreams } from '../streams/open-streams.ts'
import { PlainStream } from '../streams/plain-stream.ts'
import type { AnswerStream, ReplyOutlet, ReplyOwner } from '../streams/reply-outlet.ts'
import type { SlowAnswers } from '../streams/slow-answers.ts'
import { statusOf } from './session.ts'

export class SessionlessAnswer implements ReplyOwner {
  readonly #usage: CallerUsage
  readonly #services: { readonly inFlight: InFlight; readonly open: OpenStreams }
  outlet: ReplyOutlet | undefined
  /** The channel of this POST, if it has one. It is closed after the answer. */
  channel: Channel | undefined

  constructor(usage: CallerUsage, services: { inFlight: InFlight; open: OpenStreams }) {
    this.#usage = usage
    this.#services = services
  }

  get slow(): SlowAnswers {
    return this.#services.open.slow
  }

  beginAnswer(reply: HttpReply): AnswerStream {
    return new PlainStream(reply, this.#services.open, this.#usage, undefined, () => this.outlet?.abandon())
  }

  answerAsEvent(reply: HttpReply, json: string): void {
    reply.send(200, EVENT_STREAM_HEADERS, eventText(json, undefined))
  }

  statusOf(errorCode: number | undefined): number {
    return statusOf(errorCode)
  }

  onOver(body: BodyMemory): void {
    this.#services.inFlight.leave(this.#usage, body)
    const { channel } = this
    if (channel) queueMicrotask(() => channel.close('The request was answered'))
  }

  onAbandoned(): void {
    this.#services.inFlight.abandon(this.#usage)
  }

  onAbandonedOver(): void {
    this.#services.inFlight.unabandon(this.#usage)
  }
}
