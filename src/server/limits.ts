/** Every bound of a server, with its default. Each is an option of the same name. */

import type { Rate } from '../base/rate.ts'

export interface ServerLimits {
  /** Requests of one channel worked on at the same time. */
  maxActive: number
  /** Requests of one channel kept waiting beyond those. */
  maxWaiting: number
  /** Tool calls of one caller. */
  toolCalls: Rate | false
  /** Completion requests of one caller. */
  completions: Rate | false
  /** Log messages to one client; what is over is counted, and the count is told. */
  logMessages: Rate | false
  /** Progress notices of one request; what is over is left out. */
  progressNotices: Rate | false
  /** How long a handler may take unless its definition says otherwise. */
  handlerTimeoutMs: number
  /** How long the other side may take to answer a question. */
  askTimeoutMs: number
  /** Resources one session may be subscribed to, and URIs one listen request may name. */
  maxSubscriptions: number
  /** What those URIs take together, in characters. */
  maxSubscriptionBytes: number
  /** Listen requests open on one channel. */
  maxListens: number
  /** Times a call may come back with questions. */
  maxRounds: number
  /** What a call may carry from round to round, as text. */
  maxJournalBytes: number
  /** How long a client may take to come back with answers. */
  stateTtlMs: number
  /** The text of one log message. */
  maxLogBytes: number
  /** What a client says about itself when it opens a session (`clientInfo`), as JSON. */
  maxClientInfoBytes: number
  /** The capabilities it declares then, as JSON. */
  maxCapabilitiesBytes: number
}

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
  maxSubscriptionBytes: 64 * 1024,
  maxListens: 16,
  maxRounds: 10,
  maxJournalBytes: 64 * 1024,
  stateTtlMs: 15 * 60_000,
  maxLogBytes: 8 * 1024,
  maxClientInfoBytes: 4 * 1024,
  maxCapabilitiesBytes: 64 * 1024,
}
