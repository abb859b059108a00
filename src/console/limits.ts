/** The limits of a console. */

import type { Rate } from '../base/rate.ts'
import { checkOptions } from './check-options.ts'

/** The limits of a console. docs/console-api.md lists all of them. */
export interface ConsoleLimits {
  /** Codes of links that were made and not used yet, and as many of windows. A further code replaces the oldest of its kind. */
  maxCodes: number
  /** How long a code can be used. */
  codeTtlMs: number
  /** Attempts with a wrong code. Further wrong ones get 429 until the rate allows the next one. */
  wrongCodes: Rate
  /** Sessions at the same time. A further one replaces the session that was idle longest, or is refused (429) if all have an open stream. */
  maxSessions: number
  /** How long a session may be idle. */
  sessionIdleMs: number
  /** Bytes of the body of a request (413). */
  maxBodyBytes: number
  /** Connections at the same time. Further ones are closed. */
  maxConnections: number
  /** Event streams at the same time (429). */
  maxStreams: number
  /** Event streams of one session at the same time (429). */
  maxStreamsPerSession: number
  /** How often an event stream without events sends a comment. */
  heartbeatMs: number
  /** Bytes that may wait for a reader of events. With more, its connection is closed. */
  maxUnreadBytes: number
  /** Events that are kept for readers that come back. */
  maxEvents: number
  /** Bytes of the kept events. */
  maxEventBytes: number
  /** Bytes of a result inside an event. A larger one is fetched with `GET /api/operations/:id`. */
  maxInlineBytes: number
  /** Operations that run at the same time (429). */
  maxOperations: number
  /** Ended operations whose results are kept. */
  maxEnded: number
  /** Bytes of all kept results. The oldest are removed first. */
  maxResultBytes: number
  /** Subscriptions to resources at the same time (429). */
  maxSubscriptions: number
  /** Views of tools that are shown at the same time. A further one closes the oldest. */
  maxApps: number
  /** Conversations that are open at the same time. A further one closes the one that was idle longest; 429 if all are answered. */
  maxConversations: number
  /** Requests that wait for the person in place of a model. A further one fails. */
  maxModelTurns: number
  /** Recordings in the folder of the host (429). */
  maxRecordings: number
  /** Bytes of one recording. It stops there. */
  maxRecordingBytes: number
  /** Saved calls (429). */
  maxSavedCalls: number
  /** Records in one page of the audit log, and decisions in one answer of a replay. */
  maxRecords: number
}

/** The limits of a console that gives no others. */
export const DEFAULT_CONSOLE_LIMITS: ConsoleLimits = {
  maxCodes: 8,
  codeTtlMs: 5 * 60_000,
  wrongCodes: { perSecond: 0.2, burst: 10 },
  maxSessions: 16,
  sessionIdleMs: 12 * 60 * 60_000,
  maxBodyBytes: 4 * 1024 * 1024,
  maxConnections: 256,
  maxStreams: 32,
  maxStreamsPerSession: 4,
  heartbeatMs: 15_000,
  maxUnreadBytes: 16 * 1024 * 1024,
  maxEvents: 2_000,
  maxEventBytes: 8 * 1024 * 1024,
  maxInlineBytes: 256 * 1024,
  maxOperations: 64,
  maxEnded: 200,
  maxResultBytes: 64 * 1024 * 1024,
  maxSubscriptions: 100,
  maxApps: 16,
  maxConversations: 50,
  maxModelTurns: 32,
  maxRecordings: 50,
  maxRecordingBytes: 32 * 1024 * 1024,
  maxSavedCalls: 500,
  maxRecords: 1_000,
}

/** An option that is undefined gets its default. */
export function consoleLimits(given: Partial<ConsoleLimits> = {}): ConsoleLimits {
  checkOptions('limits', given, DEFAULT_CONSOLE_LIMITS)
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...DEFAULT_CONSOLE_LIMITS, ...Object.fromEntries(entries) }
}
