/** The limits of a supervised server, with their defaults. Each is an option of the same name. */

import type { Rate } from '../../base/rate.ts'

export interface SupervisionLimits {
  /** How long opening a connection may take. */
  connectTimeoutMs: number
  /** How long a call waits for a connection that is being opened. */
  waitMs: number
  /** The first pause after a failure. Each further pause is twice as long. A random part of up to half is subtracted. */
  firstRetryMs: number
  /** The longest pause after a failure. */
  maxRetryMs: number
  /** A connection that lasted this long counts as stable, and earlier failures are forgotten. */
  stableMs: number
  /** After this number of failures within `breakerWindowMs`, the host stops trying for `breakerOpenMs`. */
  breakerFailures: number
  /** The time in which failures are counted. */
  breakerWindowMs: number
  /** How long the host waits after too many failures. */
  breakerOpenMs: number
  /** The interval between pings to an idle server. 0 turns pings off. */
  pingIntervalMs: number
  /** How long a server may take to answer a ping. */
  pingTimeoutMs: number
  /** Changes of lists that come within this time are read together. */
  listDebounceMs: number
  /** The longest wait before a list that keeps changing is read again. The wait doubles each time. */
  maxListPauseMs: number
  /** Tools, prompts, resources and templates of one server together. */
  maxOfferingItems: number
  /** The size as JSON of all its definitions, instructions and capabilities. */
  maxOfferingBytes: number
  /** Resources watched at the same time. */
  maxSubscriptions: number
  /** How many log messages and lines of standard error are passed on. */
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
