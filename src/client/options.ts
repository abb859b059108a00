/** What a caller may say about a connection, and about one request on it. */

import type { Clock } from '../base/clock.ts'
import type { Implementation } from '../protocol/model/base.ts'
import type { Settings } from '../protocol/model/lifecycle.ts'
import type { LogLevel, LogMessage } from '../protocol/model/logging.ts'
import type { Progress } from '../protocol/model/progress.ts'
import type { TraceContext } from '../protocol/model/trace-context.ts'
import type { Answers } from './answers.ts'
import type { ResponseCache } from './cache.ts'
import type { ClientLimits } from './limits.ts'
import type { VerdictMemory } from './verdict-memory.ts'

/** Trace context for every request of a connection: a fixed one, or a function called before each request. */
export type TraceSource = TraceContext | (() => TraceContext | undefined)

export interface ConnectOptions {
  /** Who the client says it is. */
  info?: Implementation
  /** How questions of the server are answered; what is not here is not offered to it. */
  answer?: Answers
  /** Protocol revisions to speak; all unless given. */
  revisions?: readonly string[]
  limits?: Partial<ClientLimits>
  /** A cache shared with other clients; false for none. Its own unless given. */
  cache?: ResponseCache | false
  /** Whose data the private part of a shared cache is. */
  cachePartition?: string
  /** Where is remembered which kind of server this is. */
  memory?: VerdictMemory
  /** Gives up the opening of the connection, and leaves nothing of it; it means nothing once the connection is open. */
  signal?: AbortSignal
  /** How often to look whether a quiet session is alive; 0 for never. */
  pingIntervalMs?: number
  /**
   * Trace context to send with every request, or a function that is asked before each: `traceparent`, `tracestate` and
   * `baggage` as W3C defines them. Values that are not valid are left out with a warning.
   */
  trace?: TraceSource
  /**
   * The least severe log message wanted from the start.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Servers are to use standard error or OpenTelemetry.
   */
  logLevel?: LogLevel
  experimental?: Record<string, Settings>
  extensions?: Record<string, Settings>
  onLog?(message: LogMessage): void
  /** Something was odd and was dealt with: a tool left out, a message ignored, a connection restarted. */
  onWarning?(message: string): void
  /** The connection is over and will not come back; the error says why, if it was not `close`. */
  onClose?(error: Error | undefined): void
  clock?: Clock
}

export interface CallOptions {
  signal?: AbortSignal
  /** Overrides `limits.timeoutMs` for this request. */
  timeoutMs?: number
  /** Overrides `limits.maxTotalMs` for this request. */
  maxTotalMs?: number
  /** Whether progress starts the timeout anew, up to the total; true unless given. */
  resetTimeoutOnProgress?: boolean
  onProgress?(progress: Progress): void
  /** Metadata to send along. */
  meta?: Record<string, unknown>
  /** Trace context of this request, in place of that of the connection. */
  trace?: TraceContext
}
