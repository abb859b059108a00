/** Every bound of a supervised server, with its default. Each is an option of the same name. */

import type { Rate } from '../../base/rate.ts'

export interface SupervisionLimits {
  /** How long opening a connection may take. */
  connectTimeoutMs: number
  /** How long a call waits for a connection that is being opened. */
  waitMs: number
  /** The first pause after a failure; each further one is twice as long, with chance in it. */
  firstRetryMs: number
  /** The longest pause after a failure. */
  maxRetryMs: number
  /** A connection that lasted this long was a good one: what failed before it is forgotten. */
  stableMs: number
  /** So many failures ... */
  breakerFailures: number
  /** ... in so much time, and nothing is tried ... */
  breakerWindowMs: number
  /** ... for so long. */
  breakerOpenMs: number
  /** How often a server that nobody calls is asked for a sign of life; 0 for never. */
  pingIntervalMs: number
  /** How long it may take to answer that. */
  pingTimeoutMs: number
  /** Changes of lists that come within this time are read together. */
  listDebounceMs: number
  /** The longest wait before a list that keeps changing is read again; each wait is twice the one before. */
  maxListPauseMs: number
  /** Tools, prompts, resources and templates of one server together. */
  maxOfferingItems: number
  /** All that it lists, its instructions and capabilities, as JSON. */
  maxOfferingBytes: number
  /** Resources watched at the same time. */
  maxSubscriptions: number
  /** Log messages and lines of standard error that are passed on. */
  logs: Rate
}

export const DEFAULT_SUPERVISION_LIMITS: SupervisionLimits = {
  connectTimeoutMs: 60_000,
  waitMs: 5_000,
  firstRetryMs: 1_000,
  maxRetryMs: 30_000,
  stableMs: 30_000,
  breakerFailures: 5,
  breakerWindowMs: 60_000,
  breakerOpenMs: 60_000,
  pingIntervalMs: 30_000,
  pingTimeoutMs: 10_000,
  listDebounceMs: 200,
  maxListPauseMs: 10_000,
  maxOfferingItems: 10_000,
  maxOfferingBytes: 16 * 1024 * 1024,
  maxSubscriptions: 1_000,
  logs: { perSecond: 50, burst: 500 },
}
