/** The limits of a server and their defaults. */

import type { Rate } from '../base/rate.ts'

/** Limits for `createServer({ limits })`. A rate of `false` means no limit. */
export interface ServerLimits {
  /** Requests of one client that run at the same time. */
  maxActive: number
  /** Requests of one client that wait to run. More are refused. */
  maxWaiting: number
  /** Tool calls of one caller. */
  toolCalls: Rate | false
  /** Completion requests of one caller. */
  completions: Rate | false
  /** Log messages to one client. More are dropped, and the next message contains their number. */
  logMessages: Rate | false
  /** Progress notices of one request. More are dropped. */
  progressNotices: Rate | false
  /** The time limit of a handler, unless its definition has `timeoutMs`. */
  handlerTimeoutMs: number
  /** How long a client may take to answer a question in a session. */
  askTimeoutMs: number
  /** Subscribed resources of one session, or of one listen request. */
  maxSubscriptions: number
  /** How long a client may take to repeat a stateless call with answers. */
  stateTtlMs: number
}

/** The default limits of a server. */
export const DEFAULT_LIMITS: ServerLimits = {
  maxActive: 64,
  maxWaiting: 2048,
  toolCalls: { perSecond: 100, burst: 200 },
  completions: { perSecond: 100, burst: 200 },
  logMessages: { perSecond: 100, burst: 200 },
  progressNotices: { perSecond: 1000, burst: 2000 },
  handlerTimeoutMs: 5 * 60_000,
  askTimeoutMs: 10 * 60_000,
  maxSubscriptions: 1000,
  stateTtlMs: 15 * 60_000,
}
