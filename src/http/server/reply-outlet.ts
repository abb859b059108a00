/** The outlet of one POST: an answer in JSON, or a stream of events as soon as there is something to say before it. */

import type { Outlet } from '../../jsonrpc/outlet.ts'
import type { Headers, Reply } from './ask.ts'
import { EVENT_STREAM_HEADERS } from './event-stream.ts'
import { JSON_TYPE } from './refusal.ts'
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

export interface AnswerSource {
  /** Begins a stream on the reply. */
  beginAnswer(reply: Reply): AnswerStream
}

export interface ReplyOutletOptions {
  reply: Reply
  slow: SlowAnswers
  /** What the client takes and the server is set to give. */
  kinds: { json: boolean; events: boolean }
  source: AnswerSource
  /** The status of an answer in JSON. */
  statusOf(errorCode: number | undefined): number
  onOver(): void
}

export class ReplyOutlet extends SlowAnswer implements Outlet {
  readonly #options: ReplyOutletOptions
  #stream: AnswerStream | undefined
  #isOver = false

  constructor(options: ReplyOutletOptions) {
    super()
    this.#options = options
    if (options.kinds.events) options.slow.add(this)
  }

  push(json: string): undefined | Promise<void> {
    return this.#isOver ? undefined : this.#toStream()?.push(json)
  }

  answer(json: string, errorCode?: number): void {
    const { reply, kinds, statusOf } = this.#options
    const stream = this.#stream ?? (kinds.json || errorCode !== undefined ? undefined : this.#toStream())
    this.#end()
    if (stream) stream.finish(json)
    else if (!reply.isGone) reply.send(statusOf(errorCode), JSON_TYPE, json)
  }

  /** A request is owed JSON or events, and clients complain of anything else: events, then, of which there are none. */
  drop(): void {
    const { reply, kinds } = this.#options
    this.#end()
    if (this.#stream) this.#stream.finish(undefined)
    else if (!reply.isGone) reply.send(kinds.events ? 200 : 202, kinds.events ? EVENT_STREAM_HEADERS : NO_HEADERS)
  }

  release(): void {
    if (!this.#isOver) this.#toStream()?.release?.()
  }

  /** It takes long: a stream can be kept alive. */
  onSlow(): void {
    this.#toStream()?.greet()
  }

  #toStream(): AnswerStream | undefined {
    const { reply, kinds, source, slow } = this.#options
    if (this.#stream || !kinds.events || reply.isGone) return this.#stream
    slow.remove(this)
    this.#stream = source.beginAnswer(reply)
    return this.#stream
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.slow.remove(this)
    this.#options.onOver()
  }
}

const NO_HEADERS: Headers = {}
