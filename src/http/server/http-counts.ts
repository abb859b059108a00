/** The load of a handler, in numbers. */

/** The current load of a handler, for metrics. */
export interface HttpCounts {
  /** Requests in progress. */
  inFlight: number
  /** Running tasks of the server that no other process can continue. The shutdown waits for them. */
  tasks: number
  /** Requests in progress whose client has disconnected. */
  abandoned: number
  /** Open streams of events. */
  streams: number
  sessions: number
  /** Sessions of the legacy transport (HTTP+SSE). */
  legacySessions: number
  /** Principals and addresses that hold something, or did within the last second. */
  callers: number
  /** Memory of the messages that arrive or are in progress. */
  bodyBytes: number
  /** Events kept for clients that resume a stream, in bytes. */
  keptBytes: number
}
