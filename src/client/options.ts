/** The options of a connection and of a single request. */

import type { Clock } from '../base/clock.ts'
import type { Id } from '../jsonrpc/message.ts'
import type { Members } from '../protocol/check-members.ts'
import type { AroundRequest } from '../protocol/interfaces/telemetry.ts'
import type { Implementation } from '../protocol/model/base.ts'
import type { Settings } from '../protocol/model/lifecycle.ts'
import type { LogLevel, LogMessage } from '../protocol/model/logging.ts'
import type { Progress } from '../protocol/model/progress.ts'
import type { TraceContext } from '../protocol/model/trace-context.ts'
import type { Answers } from './answer-server.ts'
import type { ResponseCache } from './cache.ts'
import type { VerdictMemory } from './dialect-memory.ts'
import type { ClientExtension } from './extension.ts'
import type { ClientLimits } from './limits.ts'

/** Trace context for every request of a connection: a fixed one, or a function called before each request. */
export type TraceSource = TraceContext | (() => TraceContext | undefined)

/**
 * Options for `connect`. All are optional.
 *
 * @example
 * await connect(url, { info: { name: 'my-app', version: '2.0.0' }, limits: { timeoutMs: 10_000 }, onWarning: console.warn })
 */
export interface ConnectOptions {
  /** The name and version of the client, as servers see it. Default: portico. */
  info?: Implementation
  /** Handlers for the server's questions. Only these are declared to the server. */
  answer?: Answers
  /** The protocol revisions to use. Default: all. */
  revisions?: readonly string[]
  /** Limits that differ from `DEFAULT_CLIENT_LIMITS`. */
  limits?: Partial<ClientLimits>
  /** A cache shared with other clients; false for no cache. Default: a separate cache. */
  cache?: ResponseCache | false
  /** The user whose private results may be reused in a shared cache. Default: not shared. */
  cachePartition?: string
  /** Where the dialects of servers are remembered. Default: one memory for the process. */
  memory?: VerdictMemory
  /** Cancels connecting. Has no effect once the connection is open. */
  signal?: AbortSignal
  /** How often to ping a silent server; 0 for never. Default: 30,000, but never over HTTP. */
  pingIntervalMs?: number
  /**
   * Trace context for every request, or a function that returns it before each: `traceparent`, `tracestate` and `baggage`
   * of W3C. Invalid values are dropped with a warning.
   */
  trace?: TraceSource
  /** Runs around every request, for traces and metrics: `clientTelemetry()` of portico/opentelemetry. It sends the trace context, too. */
  telemetry?: AroundRequest
  /**
   * The minimum level of log messages from the start.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Servers should use
   * standard error or OpenTelemetry.
   */
  logLevel?: LogLevel
  /** Non-standard capabilities to declare, by name. */
  experimental?: Record<string, Settings>
  /** Protocol extensions to declare, by name. */
  extensions?: Record<string, Settings>
  /** Extensions with methods or notifications, which are declared, too. `clientExtension` of portico/extensions creates them. */
  use?: readonly ClientExtension[]
  /**
   * Whether calls may run as tasks, for servers that want it. The results are the same. Default: true. Without tasks, tools that
   * run only as tasks refuse calls.
   */
  tasks?: boolean
  /** Receives log messages of the server. */
  onLog?(message: LogMessage): void
  /** Receives warnings: an ignored tool or message, a restarted connection. */
  onWarning?(message: string): void
  /** Called when the connection has ended and will not be reopened. The error is undefined after `close`. */
  onClose?(error: Error | undefined): void
  /** The clock for timeouts. Default: the system clock. Tests pass `fakeClock()`. */
  clock?: Clock
}

/** The names of all options of a connection. */
export const CONNECT_MEMBERS: Members<ConnectOptions> = {
  info: 1,
  answer: 1,
  revisions: 1,
  limits: 1,
  cache: 1,
  cachePartition: 1,
  memory: 1,
  signal: 1,
  pingIntervalMs: 1,
  trace: 1,
  telemetry: 1,
  logLevel: 1,
  experimental: 1,
  extensions: 1,
  use: 1,
  tasks: 1,
  onLog: 1,
  onWarning: 1,
  onClose: 1,
  clock: 1,
}

/** Options for one request. */
export interface CallOptions {
  /** Cancels the request, and the task that it became. */
  signal?: AbortSignal
  /** Overrides `limits.timeoutMs` for this request. */
  timeoutMs?: number
  /** Overrides `limits.maxTotalMs` for this request, and `limits.maxTaskMs` if it becomes a task. */
  maxTotalMs?: number
  /** Whether progress restarts the timeout, up to `maxTotalMs`. Default: true if `onProgress` is set. */
  resetTimeoutOnProgress?: boolean
  /** Receives the progress of the request. Tasks of the extension have only status messages; `progress` is their number. */
  onProgress?(progress: Progress): void
  /** Metadata of the request (`_meta`). */
  meta?: Record<string, unknown>
  /** Trace context of this request, instead of that of the connection. */
  trace?: TraceContext
  /** Sends the request even if its result is cached. Default: false. */
  isFresh?: boolean
}

/** The options of a request on its way to the link. */
export interface SentOptions extends CallOptions {
  /** Takes the id of each message that carries the request. */
  onSent?(id: Id): void
}
