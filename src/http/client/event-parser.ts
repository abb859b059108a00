/** Parses the text of an event stream as the HTML standard defines it: lines of fields, and an event at each empty line. */

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
  /** The pieces of a line whose end has not come yet. They are joined once. */
  #pieces: string[] = []
  #piecesLength = 0
  #isFirst = true
  /** The last chunk ended with CR, so an LF at the start of the next one belongs to it. */
  #hadCr = false
  #isOver = false
  #name = ''
  #data: string[] = []
  #dataLength = 0
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
    this.#pieces = []
    this.#data = []
  }

  #keep(piece: string): void {
    this.#piecesLength += piece.length
    if (this.#piecesLength > this.#maxLine) return this.#tooLong()
    this.#pieces.push(piece)
  }

  #line(end: string): void {
    let line = end
    if (this.#pieces.length > 0) {
      this.#pieces.push(end)
      line = this.#pieces.join('')
      this.#pieces = []
      this.#piecesLength = 0
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
        this.#dataLength += value.length + 1
        // The lines are joined with line ends, one fewer than there are lines.
        if (this.#dataLength > this.#options.maxLength + 1) return this.#tooLong()
        this.#data.push(value)
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
    const lines = this.#data
    this.#id = undefined
    this.#name = ''
    if (lines.length > 0) {
      this.#data = []
      this.#dataLength = 0
    }
    if (id !== undefined) this.#options.onId(id)
    if (lines.length > 0 && !this.#isOver) this.#options.onEvent(name === '' ? 'message' : name, lines.join('\n'))
  }

  #tooLong(): void {
    this.stop()
    this.#options.onTooLong()
  }
}
