/** The interface between a runtime (Node or web standards) and the endpoint: a request to read and a reply to write. */

/** Why a body could not be read. Only the program itself can cause `unreadable`. */
export type BodyFault = 'too-large' | 'too-slow' | 'not-utf8' | 'no-room' | 'unreadable' | 'gone'

/** One HTTP request. */
export interface HttpRequestView {
  readonly method: string
  /** Path and query as the client wrote them, or a whole URL. */
  readonly url: string
  /** The value of a header, by its lower-case name. Repeated headers are joined with a comma. */
  header(name: string): string | undefined
  /** How many times the request contains this header. */
  count(name: string): number
  readonly headerCount: number
  /** Whether the connection ends at a loopback address; undefined where the runtime does not say. */
  readonly isLocal: boolean | undefined
  /** Whether the connection to this process is encrypted. */
  readonly isSecure?: boolean
  /** The address at which the connection ends; undefined where the runtime does not say. */
  readonly localAddress?: string | undefined
  /** The client's address; from X-Forwarded-For when `proxies` is set. */
  readonly remoteAddress: string | undefined
  /** How many trusted proxies are in front. The endpoint sets it first. */
  proxies: number
  /**
   * Reads the body and calls `done` once.
   * @param room counts the pieces of a body that comes in several pieces
   */
  body(bounds: BodyBounds, room: BodyRoom, done: OnBody): void
}

/** The memory for bodies. */
export interface BodyRoom {
  /** Counts more bytes; false when there is no room for them. */
  grow(bytes: number): boolean
}

export type OnBody = (text: string | undefined, fault: BodyFault | undefined) => void

export interface BodyBounds {
  /** The largest body of a request, in bytes. */
  maxBodyBytes: number
  /** How often the rate of an unfinished body is checked. */
  bodyGraceMs: number
  /** Bytes per second that must have come since the last check. */
  minBodyRate: number
}

export type Headers = Readonly<Record<string, string>>

/** The request that a response answers, and its verified caller, for the report of a refusal. */
export interface RequestOfReply {
  request: HttpRequestView | undefined
  principal: string | undefined
}

/** The response to one HTTP request. */
export interface HttpReply extends RequestOfReply {
  /** Headers added to the response. */
  extraHeaders: Headers | undefined
  /** When a stream must end because the caller's credentials expire, on the clock of the endpoint. */
  endsAt: number | undefined
  /** Sends the complete response. */
  send(status: number, headers: Headers, body?: string): void
  /** The same for a body in three parts, the middle one as bytes. Absent where that is not faster. */
  sendParts?(status: number, headers: Headers, head: string, body: Uint8Array, tail: string): void
  /** Begins a stream of events. */
  open(headers: Headers): EventSink
  /** Called when the client disconnects before the response is complete. */
  onGone: (() => void) | undefined
  readonly isGone: boolean
}

/** The open end of a stream of events. */
export interface EventSink {
  readonly reply: RequestOfReply
  write(text: string): void
  /** Bytes that the client has not read yet. */
  readonly pending: number
  /** Grows whenever the client reads something. */
  readonly taken: number
  /** Calls `listener` once, when little enough is pending again or the stream is gone. */
  whenDrained(listener: () => void): void
  end(): void
  /** Closes the connection. */
  destroy(): void
  /** Called when the client disconnects. */
  onGone: (() => void) | undefined
}
