/** An answer that was sent as a complete stream. It is kept as one text, because nearly no client asks for it again. */

import type { LinkedList } from '../../../base/linked-list.ts'
import type { EventStore } from '../limits/caller-usage.ts'
import { sizeOf } from '../limits/kept-bytes.ts'
import { eventText, idEventText } from './event-stream.ts'

/** The owner of kept answers. */
export interface KeptAnswerOwner {
  /** The answer has to be dropped. */
  onTooMuch(answer: KeptAnswer): void
}

export class KeptAnswer implements EventStore {
  readonly number: number
  /** The whole stream. */
  readonly text: string
  readonly bytes: number
  readonly unattendedSince: number
  previous: EventStore | undefined
  next: EventStore | undefined
  listedIn: LinkedList<EventStore> | undefined
  readonly #owner: KeptAnswerOwner

  constructor(number: number, text: string, now: number, owner: KeptAnswerOwner) {
    this.number = number
    this.text = text
    this.bytes = sizeOf(text)
    this.unattendedSince = now
    this.#owner = owner
  }

  /** The text of the event with the answer. The event before it has only an id. */
  get event(): string {
    return this.text.slice(this.text.indexOf('event:'))
  }

  evictOldest(): boolean {
    this.#owner.onTooMuch(this)
    return true
  }
}

/**
 * The text of a stream with one event. Where clients poll, an event with only an id comes before it.
 * @param stream the start of the ids of its events
 */
export function wholeStream(json: string, stream: string, isPolled: boolean): string {
  const text = eventText(json, `${stream}.1`)
  return isPolled ? idEventText(`${stream}.0`) + text : text
}
