/** What a runtime must give the endpoint: a request to look at, and a way to answer it. One pair per runtime. */

/** Why there is no body. */
export type BodyFault = 'too-large' | 'too-slow' | 'not-utf8' | 'no-room' | 'gone'

export interface HttpRequestView {
  readonly method: string
  /** Path and query as the client wrote them, or a whole URL. */
  readonly url: string
  /** The value of a header, by its lower-case name; values of one that came several times are joined with a comma. */
  header(name: string): string | undefined
  /** How often a header came. */
  count(name: string): number
  readonly headerCount: number
  /** Whether the connection ends at a loopback address of ours; undefined where the runtime does not say. */
  readonly isLocal: boolean | undefined
  /** The client's; the one that the proxies tell where `proxies` is set. */
  readonly remoteAddress: string | undefined
  /** How many proxies stand in front and tell the client's address; set before anything is asked. */
  proxies: number
  /**
   * Reads the body; calls back once.
   * @param grow hears of every piece of a body that comes in pieces; false when there is no room for it
   */
  body(bounds: BodyBounds, grow: (bytes: number) => boolean, done: (text: string | undefined, fault: BodyFault | undefined) => void): void
}

export interface BodyBounds {
  maxBodyBytes: number
  /** How often the pace of a body is judged. */
  bodyGraceMs: number
  /** Bytes a second that must have come since it was judged last. */
  minBodyRate: number
}

export type Headers = Readonly<Record<string, string>>

export interface HttpReply {
  /** Added to whatever is sent. */
  extraHeaders: Headers | undefined
  /** When whoever asked may no longer be answered in a stream, on the clock of the endpoint. */
  endsAt: number | undefined
  /** The whole answer at once. */
  send(status: number, headers: Headers, body?: string): void
  /** The same for a body in three parts, the middle one as bytes; absent where parts cost more than one. */
  sendParts?(status: number, headers: Headers, head: string, body: Uint8Array, tail: string): void
  /** Begins a stream of events. */
  open(headers: Headers): EventSink
  /** Set to hear that the client went away before the answer was whole. */
  onGone: (() => void) | undefined
  readonly isGone: boolean
}

/** The open end of a stream of events. */
export interface EventSink {
  write(text: string): void
  /** Bytes handed over that nobody has taken yet. */
  readonly pending: number
  /** Grows whenever the other side takes something. */
  readonly taken: number
  /** Calls back once when little enough is pending again, or when the stream is gone. */
  whenDrained(listener: () => void): void
  end(): void
  /** Breaks the connection off. */
  destroy(): void
  /** Set to hear that the other side went away. */
  onGone: (() => void) | undefined
}
