/** The outlet of one POST: an answer in JSON, or a stream of events as soon as there is something to say before it. */

import type { KeptText } from '../../../jsonrpc/kept-text.ts'
import type { Outlet } from '../../../jsonrpc/outlet.ts'
import type { Access } from '../../../protocol/seams/access.ts'
import type { BodyMemory } from '../limits/body-memory.ts'
import { JSON_TYPE } from '../refusal.ts'
import type { Headers, HttpReply } from '../runtime/view.ts'
import { EVENT_STREAM_HEADERS } from './event-stream.ts'
import { SlowAnswer, type SlowAnswers } from './slow-answers.ts'

/** A stream of events that ends with the answer. */
export interface AnswerStream {
  push(json: string): undefined | Promise<void>
  finish(json: string | undefined): void
  /** Shows that the stream is open before there is an event. */
  greet(): void
  /** Lets the client hang up and come back; absent where it cannot. */
  release?(): void
}

/** What stands behind the answer to one request, or to all requests of one session. */
export interface ReplyOwner {
  readonly slow: SlowAnswers
  /** Begins a stream on the reply. */
  beginAnswer(reply: HttpReply): AnswerStream
  /** A whole stream of one event: there was nothing to say before the answer. */
  answerAsEvent(reply: HttpReply, json: string): void
  /** The status of an answer in JSON. */
  statusOf(errorCode: number | undefined): number
  /** The request has its answer, or will have none. */
  onOver(body: BodyMemory): void
  /** Nobody waits for the answer any more, but it is still worked on; and the end of that. */
  onAbandoned?(): void
  onAbandonedOver?(): void
}

/** What the client takes and the server is set to give. */
export interface AcceptedTypes {
  json: boolean
  events: boolean
}

export class ReplyOutlet extends SlowAnswer implements Outlet {
  readonly sender: Access
  readonly #reply: HttpReply
  readonly #accepts: AcceptedTypes
  readonly #host: ReplyOwner
  readonly #body: BodyMemory
  #stream: AnswerStream | undefined
  #isOver = false
  #isAbandoned = false

  constructor(reply: HttpReply, accepts: AcceptedTypes, host: ReplyOwner, sender: Access, body: BodyMemory) {
    super()
    this.sender = sender
    this.#reply = reply
    this.#accepts = accepts
    this.#host = host
    this.#body = body
    if (accepts.events) host.slow.add(this)
  }

  get canPush(): boolean {
    return this.#accepts.events
  }

  push(json: string): undefined | Promise<void> {
    return this.#isOver ? undefined : this.#toStream()?.push(json)
  }

  answer(json: string, errorCode?: number): void {
    this.#end()
    if (this.#stream) this.#stream.finish(json)
    else if (this.#reply.isGone) return
    else if (this.#accepts.json || errorCode !== undefined) this.#reply.send(this.#host.statusOf(errorCode), JSON_TYPE, json)
    else this.#host.answerAsEvent(this.#reply, json)
  }

  answerKept(head: string, kept: KeptText, tail: string): void {
    const reply = this.#reply
    if (this.#stream || !this.#accepts.json || !reply.sendParts || kept.text.length < WORTH_PARTS)
      return this.answer(head + kept.text + tail)
    this.#end()
    if (!reply.isGone) reply.sendParts(200, JSON_TYPE, head, kept.bytes, tail)
  }

  /** A request is owed JSON or events, and clients complain of anything else: events, then, of which there are none. */
  drop(): void {
    const { events } = this.#accepts
    this.#end()
    if (this.#stream) this.#stream.finish(undefined)
    else if (!this.#reply.isGone) this.#reply.send(events ? 200 : 202, events ? EVENT_STREAM_HEADERS : NO_HEADERS)
  }

  release(): void {
    if (!this.#isOver) this.#toStream()?.release?.()
  }

  /** The client went away, and there is no stream that it could come back to. */
  abandon(): void {
    if (this.#isOver || this.#isAbandoned) return
    this.#isAbandoned = true
    this.#host.onAbandoned?.()
  }

  /** It takes long: a stream can be kept alive. */
  onSlow(): void {
    this.#toStream()?.greet()
  }

  #toStream(): AnswerStream | undefined {
    if (this.#stream || !this.#accepts.events || this.#reply.isGone) return this.#stream
    this.#host.slow.remove(this)
    this.#stream = this.#host.beginAnswer(this.#reply)
    return this.#stream
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#host.slow.remove(this)
    if (this.#isAbandoned) this.#host.onAbandonedOver?.()
    this.#host.onOver(this.#body)
  }
}

const NO_HEADERS: Headers = {}
/** Shorter text is copied in less time than three parts are sent. */
const WORTH_PARTS = 16 * 1024
