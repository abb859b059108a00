/** The outlet of one POST: JSON, or a stream of events as soon as a message has to be sent before the answer. */

import type { KeptText } from '../../../jsonrpc/kept-text.ts'
import { INTERNAL_ERROR } from '../../../jsonrpc/message.ts'
import type { Arrival, Outlet } from '../../../jsonrpc/outlet.ts'
import type { Access } from '../../../protocol/interfaces/access.ts'
import type { BodyMemory } from '../limits/body-memory.ts'
import { JSON_TYPE } from '../refusal.ts'
import type { Headers, HttpReply } from '../runtime/request-reply.ts'
import { EVENT_STREAM_HEADERS } from './event-stream.ts'
import { SlowAnswer, type SlowAnswers } from './slow-answers.ts'

/** A stream of events that ends with the answer. */
export interface AnswerStream {
  push(json: string, question?: string): undefined | Promise<void>
  finish(json: string | undefined): void
  /** Sends a comment, so that the client sees the open stream before the first event. */
  greet(): void
  /** Disconnects the client, which comes back later. Absent where streams cannot be resumed. */
  release?(): void
}

/** The owner of the answers: one stateless request, or one session. */
export interface ReplyOwner {
  readonly slow: SlowAnswers
  /** Begins a stream on the reply. */
  beginAnswer(reply: HttpReply): AnswerStream
  /** Sends the answer as a complete stream with one event. */
  answerAsEvent(reply: HttpReply, json: string): void
  /** The HTTP status for an answer that is sent as JSON and not as a stream. */
  statusOf(errorCode: number | undefined): number
  /** The request has its answer, or will get none. */
  onOver(body: BodyMemory): void
  /** The client disconnected while the request is in progress. */
  onAbandoned?(): void
  /** An abandoned request has ended. */
  onAbandonedOver?(): void
  /** The error to send in place of an answer as JSON, if another process may have taken the request over. */
  lostAnswer?(): string | undefined
  /** The id for the next question to the client, where the numbers of one process are not unique. */
  questionId?(): string
}

/** The response types that both the client and the server allow. */
export interface AcceptedTypes {
  json: boolean
  events: boolean
}

export class ReplyOutlet extends SlowAnswer implements Outlet {
  readonly sender: Access
  readonly #reply: HttpReply
  readonly #accepts: AcceptedTypes
  readonly #owner: ReplyOwner
  readonly #body: BodyMemory
  #stream: AnswerStream | undefined
  #isOver = false
  #isAbandoned = false

  constructor(reply: HttpReply, accepts: AcceptedTypes, owner: ReplyOwner, sender: Access, body: BodyMemory) {
    super()
    this.sender = sender
    this.#reply = reply
    this.#accepts = accepts
    this.#owner = owner
    this.#body = body
    if (accepts.events) owner.slow.add(this)
  }

  get arrival(): Arrival | undefined {
    return this.#body.arrival
  }

  get canPush(): boolean {
    return this.#accepts.events
  }

  push(json: string, question?: string): undefined | Promise<void> {
    return this.#isOver ? undefined : this.#toStream()?.push(json, question)
  }

  get questionId(): (() => string) | undefined {
    return this.#owner.questionId?.bind(this.#owner)
  }

  answer(json: string, errorCode?: number, retryAfterS?: number): void {
    if (this.#isOver) return
    const lost = this.#lostAnswer()
    this.#end()
    if (this.#stream) this.#stream.finish(json)
    else if (this.#reply.isGone) return
    else if (lost !== undefined) this.#reply.send(this.#owner.statusOf(INTERNAL_ERROR), JSON_TYPE, lost)
    else if (retryAfterS !== undefined) this.#reply.send(503, { ...JSON_TYPE, 'retry-after': String(retryAfterS) }, json)
    else if (this.#accepts.json || errorCode !== undefined) this.#reply.send(this.#owner.statusOf(errorCode), JSON_TYPE, json)
    else this.#owner.answerAsEvent(this.#reply, json)
  }

  answerKept(head: string, kept: KeptText, tail: string): void {
    if (this.#isOver) return
    const reply = this.#reply
    if (this.#stream || !this.#accepts.json || !reply.sendParts || kept.text.length < WORTH_PARTS)
      return this.answer(head + kept.text + tail)
    const lost = this.#lostAnswer()
    this.#end()
    if (reply.isGone) return
    if (lost !== undefined) reply.send(this.#owner.statusOf(INTERNAL_ERROR), JSON_TYPE, lost)
    else reply.sendParts(200, JSON_TYPE, head, kept.bytes, tail)
  }

  /** Clients expect JSON or events as the response to a request, so a dropped one gets an empty stream of events. */
  drop(): void {
    if (this.#isOver) return
    const { events } = this.#accepts
    this.#end()
    if (this.#stream) this.#stream.finish(undefined)
    else if (!this.#reply.isGone) this.#reply.send(events ? 200 : 202, events ? EVENT_STREAM_HEADERS : NO_HEADERS)
  }

  /** The server has failed, and will not answer. The endpoint does, unless a stream has begun. */
  fail(): void {
    if (this.#isOver) return
    this.#end()
    this.#stream?.finish(undefined)
  }

  release(): void {
    if (!this.#isOver) this.#toStream()?.release?.()
  }

  /** The client disconnected, and there is no stream that it could resume. */
  abandon(): void {
    if (this.#isOver || this.#isAbandoned) return
    this.#isAbandoned = true
    this.#owner.onAbandoned?.()
  }

  /** The answer takes long, so it becomes a stream, which can be kept alive. */
  onSlow(): void {
    if (!this.#isOver) this.#toStream()?.greet()
  }

  /** A stream looks itself whether it may still write. */
  #lostAnswer(): string | undefined {
    return this.#stream ? undefined : this.#owner.lostAnswer?.()
  }

  #toStream(): AnswerStream | undefined {
    if (this.#stream || !this.#accepts.events || this.#reply.isGone) return this.#stream
    this.#owner.slow.remove(this)
    this.#stream = this.#owner.beginAnswer(this.#reply)
    return this.#stream
  }

  #end(): void {
    this.#isOver = true
    this.#owner.slow.remove(this)
    if (this.#isAbandoned) this.#owner.onAbandonedOver?.()
    this.#owner.onOver(this.#body)
  }
}

const NO_HEADERS: Headers = {}
/** Below this length copying is faster than sending three parts. */
const WORTH_PARTS = 16 * 1024
