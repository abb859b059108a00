/** The events of a console with their ids, kept within limits for readers that come back. */

import { randomBytes } from 'node:crypto'
import type { ConsoleEvents } from './api.ts'
import type { ConsoleLimits } from './limits.ts'

/** An event as it is sent. */
interface KeptEvent {
  number: number
  text: string
  bytes: number
}

type EventLimits = Pick<ConsoleLimits, 'maxEvents' | 'maxEventBytes' | 'maxInlineBytes'>

export class EventLog {
  readonly #limits: EventLimits
  /** Distinguishes the ids of this console from those of an earlier one. */
  readonly #epoch = randomBytes(6).toString('hex')
  readonly #listeners = new Set<(text: string) => void>()
  #kept: KeptEvent[] = []
  #bytes = 0
  #last = 0

  constructor(limits: EventLimits) {
    this.#limits = limits
  }

  /** The id of the newest event. */
  get lastId(): string {
    return this.#idOf(this.#last)
  }

  /** Sends an event to every reader. @param key what remains of `data` if it is too large for an event */
  publish<Name extends keyof ConsoleEvents>(name: Name, data: ConsoleEvents[Name], key: Partial<ConsoleEvents[Name]> = {}): void {
    const { maxEvents, maxEventBytes } = this.#limits
    const number = ++this.#last
    const text = eventText(this.#idOf(number), name, this.#fitting(data, key))
    const bytes = Buffer.byteLength(text)
    this.#kept.push({ number, text, bytes })
    this.#bytes += bytes
    let gone = 0
    while (this.#kept.length - gone > maxEvents || this.#bytes > maxEventBytes) this.#bytes -= this.#kept[gone++]?.bytes ?? 0
    if (gone > 0) this.#kept = this.#kept.slice(gone)
    for (const listener of [...this.#listeners]) listener(text)
  }

  /**
   * The first texts of a stream: a `hello`, and all events since the given id.
   * @param lastId the id of the last event that the reader got. Undefined: a new reader
   */
  begin(lastId: string | undefined): string {
    const missed = lastId === undefined ? [] : this.#since(lastId)
    // The hello of a complete stream repeats the id of the reader, so that a loss during the repetition is noticed.
    const id = missed && lastId !== undefined ? lastId : this.lastId
    return [eventText(id, 'hello', JSON.stringify({ isComplete: missed !== undefined })), ...(missed ?? [])].join('')
  }

  /** Returns the function that ends it. */
  listen(listener: (text: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Undefined: some of them are gone, or the id is not from here. */
  #since(lastId: string): string[] | undefined {
    const [, epoch, digits] = /^([0-9a-f]{12})-(\d{1,15})$/.exec(lastId) ?? []
    const number = Number(digits)
    if (epoch !== this.#epoch || number > this.#last) return undefined
    if (number < this.#last - this.#kept.length) return undefined
    return this.#kept.filter((event) => event.number > number).map(({ text }) => text)
  }

  #fitting(data: object, key: object): string {
    const text = JSON.stringify(data)
    const bytes = Buffer.byteLength(text)
    return bytes <= this.#limits.maxInlineBytes ? text : JSON.stringify({ ...key, omittedBytes: bytes })
  }

  #idOf(number: number): string {
    return `${this.#epoch}-${number}`
  }
}

/** JSON has no line breaks, so one line of data is enough. */
const eventText = (id: string, name: string, data: string): string => `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`
