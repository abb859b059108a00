/** A stream of events that cannot be resumed. */

import type { CallerUsage } from '../limits/caller-usage.ts'
import type { EventSink, HttpReply } from '../runtime/request-reply.ts'
import { EVENT_STREAM_HEADERS, eventText } from './event-stream.ts'
import type { OpenStreams } from './open-streams.ts'
import type { AnswerStream } from './reply-outlet.ts'

export class PlainStream implements AnswerStream {
  readonly #sink: EventSink
  readonly #open: OpenStreams

  constructor(reply: HttpReply, open: OpenStreams, usage: CallerUsage, onTooOld: (() => void) | undefined, onGone: () => void) {
    this.#open = open
    this.#sink = reply.open(EVENT_STREAM_HEADERS)
    this.#sink.onGone = () => {
      open.remove(this.#sink)
      onGone()
    }
    open.add({ sink: this.#sink, usage, onTooOld, endsAt: reply.endsAt })
  }

  greet(): void {
    this.#sink.write(':\n\n')
  }

  push(json: string): undefined | Promise<void> {
    return this.#open.write(this.#sink, eventText(json, undefined))
  }

  /** Sends an event that is not a message. */
  event(name: string, data: string): void {
    this.#sink.write(`event: ${name}\ndata: ${data}\n\n`)
  }

  finish(json: string | undefined): void {
    if (json !== undefined) this.#sink.write(eventText(json, undefined))
    this.#open.remove(this.#sink)
    this.#sink.end()
  }
}
