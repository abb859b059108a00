/** The limits of each server of a host. */

import type { Rate } from '../../base/rate.ts'

/** The options `limits.server` of a host. */
export interface SupervisionLimits {
  /** How long opening a connection may take. */
  connectTimeoutMs: number
  /** How long a call waits while the connection is being opened. */
  waitMs: number
  /** How often the host pings an idle server. 0: never. */
  pingIntervalMs: number
}

export const DEFAULT_SUPERVISION_LIMITS: SupervisionLimits = {
  connectTimeoutMs: 60_000,
  waitMs: 5_000,
  pingIntervalMs: 30_000,
}

/** How the host retries and polls, and how much it takes from a server. These limits suit every server. Tests change them. */
export interface FixedSupervisionLimits {
  /** First pause after a failure: short, because most servers only restart. Each further pause is twice as long, with a random part. */
  firstRetryMs: number
  /** Longest pause after a failure: a person should not wait longer for a server that works again. */
  maxRetryMs: number
  /** After a connection has lasted this long, earlier failures no longer count. */
  stableMs: number
  /** Failures within `breakerWindowMs` after which the host stops trying. A server that fails so often needs more than a retry. */
  breakerFailures: number
  breakerWindowMs: number
  /** How long the host then does not try to connect. */
  breakerOpenMs: number
  /** How long the answer to a ping may take. Also a busy server answers a ping sooner. */
  pingTimeoutMs: number
  /** List changes within this time cause one read. Servers often report several changes at once. */
  listDebounceMs: number
  /** Longest pause before the host reads a list again that keeps changing. Each pause is twice as long as the one before. */
  maxListPauseMs: number
  /** Tools, prompts, resources and templates of one server, in total. A person cannot review more. */
  maxOfferingItems: number
  /** Size of a server's lists, instructions and capabilities, as JSON: 1,600 bytes for each of 10,000 items. */
  maxOfferingBytes: number
  /** Resources of one server that are watched at the same time. Each is a listener in this process. */
  maxSubscriptions: number
  /** Log messages and lines of standard error that the host passes on. A person cannot read more. */
  logs: Rate
}

export const FIXED_SUPERVISION_LIMITS: FixedSupervisionLimits = {
  firstRetryMs: 1_000,
  maxRetryMs: 30_000,
  stableMs: 30_000,
  breakerFailures: 5,
  breakerWindowMs: 60_000,
  breakerOpenMs: 60_000,
  pingTimeoutMs: 10_000,
  listDebounceMs: 200,
  maxListPauseMs: 10_000,
  maxOfferingItems: 10_000,
  maxOfferingBytes: 16 * 1024 * 1024,
  maxSubscriptions: 1_000,
  logs: { perSecond: 50, burst: 500 },
}

export type AllSupervisionLimits = SupervisionLimits & FixedSupervisionLimits
