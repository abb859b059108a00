/** Parses the text of an event stream as the HTML standard defines it: lines of fields, and an event at each empty line. */

import { GatheredText } from '../../base/gathered-text.ts'

export interface EventParserOptions {
  /** Maximum number of characters of one value, or of the data of one event. */
  maxLength: number
  /** An event with data. */
  onEvent(name: string, data: string): void
  /** The last event id, at the end of each block that sets it. An empty one resets it. */
  onId(id: string): void
  onRetry(ms: number): void
  /** A line or an event is longer than `maxLength`. Parsing stops. */
  onTooLong(): void
}

/** The longest field name with its separator. */
const FIELD_LENGTH = 'event: '.length

export class EventParser {
  readonly #options: EventParserOptions
  readonly #maxLine: number
  /** A line whose end has not come yet. */
  readonly #begun = new GatheredText()
  #isFirst = true
  /** The last chunk ended with CR, so an LF at the start of the next one belongs to it. */
  #hadCr = false
  #isOver = false
  #name = ''
  readonly #data = new GatheredText()
  #hasData = false
  #id: string | undefined

  constructor(options: EventParserOptions) {
    this.#options = options
    this.#maxLine = options.maxLength + FIELD_LENGTH
  }

  push(text: string): void {
    let rest = text
    if (this.#isFirst && rest !== '') {
      this.#isFirst = false
      if (rest.startsWith('\uFEFF')) rest = rest.slice(1)
    }
    if (this.#hadCr && rest !== '') {
      this.#hadCr = false
      if (rest.startsWith('\n')) rest = rest.slice(1)
    }
    let start = 0
    // The next LF and the next CR. Each is searched for again only after it has been passed.
    let lf = rest.indexOf('\n')
    let cr = rest.indexOf('\r')
    while (!this.#isOver && (lf >= 0 || cr >= 0)) {
      const end = lf < 0 || (cr >= 0 && cr < lf) ? cr : lf
      this.#line(rest.slice(start, end))
      start = end + 1
      if (end === cr) {
        if (start === rest.length) this.#hadCr = true
        else if (rest[start] === '\n') start++
        cr = rest.indexOf('\r', start)
      }
      if (lf >= 0 && lf < start) lf = rest.indexOf('\n', start)
    }
    if (!this.#isOver && start < rest.length) this.#keep(rest.slice(start))
  }

  /** Stops parsing. */
  stop(): void {
    this.#isOver = true
    this.#begun.clear()
    this.#data.clear()
  }

  #keep(piece: string): void {
    this.#begun.add(piece)
    if (this.#begun.length > this.#maxLine) this.#tooLong()
  }

  #line(end: string): void {
    let line = end
    if (this.#begun.length > 0) {
      this.#begun.add(end)
      line = this.#begun.take()
    }
    if (line.length > this.#maxLine) return this.#tooLong()
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    this.#field(field, value)
  }

  #field(field: string, value: string): void {
    switch (field) {
      case 'data':
        if (this.#hasData) this.#data.add('\n')
        this.#hasData = true
        this.#data.add(value)
        if (this.#data.length > this.#options.maxLength) this.#tooLong()
        return
      case 'event':
        this.#name = value
        return
      case 'id':
        if (!value.includes('\0')) this.#id = value
        return
      case 'retry':
        if (/^\d+$/.test(value)) this.#options.onRetry(Number(value))
    }
  }

  /** A block without data sets the id, but is not an event. */
  #dispatch(): void {
    const id = this.#id
    const name = this.#name
    const data = this.#hasData ? this.#data.take() : undefined
    this.#id = undefined
    this.#name = ''
    this.#hasData = false
    if (id !== undefined) this.#options.onId(id)
    if (data !== undefined && !this.#isOver) this.#options.onEvent(name === '' ? 'message' : name, data)
  }

  #tooLong(): void {
    this.stop()
    this.#options.onTooLong()
  }
}
