/** The limits of a client and their defaults. */

import type { Rate } from '../base/rate.ts'

/** Limits for `connect(to, { limits })`. A rate of `false` means no limit. */
export interface ClientLimits {
  /** How long a request may take without an answer or progress. */
  timeoutMs: number
  /** How long a request may take in total. */
  maxTotalMs: number
  /** How long to wait for the answer to the probe before also trying the handshake. */
  probeTimeoutMs: number
  /** How long one attempt to connect may take. There may be a second attempt. */
  connectTimeoutMs: number
  /** Items in one list. */
  maxItems: number
  /** Rounds of questions in one call. */
  maxRounds: number
  /** Requests of the server that run at the same time. */
  maxActive: number
  /** Requests of the server that wait to run. More are refused. */
  maxWaiting: number
  /** Forms and pages of one server. */
  elicitations: Rate | false
  /** Sampling requests of one server. */
  samplings: Rate | false
  /** Progress callbacks of one request. Beyond the rate only the newest progress is kept, and delivered later. */
  progressCallbacks: Rate
  /** Resources and lists that are watched at the same time. */
  maxWatches: number
}

/** The default limits of a client. */
export const DEFAULT_CLIENT_LIMITS: ClientLimits = {
  timeoutMs: 60_000,
  maxTotalMs: 15 * 60_000,
  probeTimeoutMs: 3_000,
  connectTimeoutMs: 60_000,
  maxItems: 10_000,
  maxRounds: 10,
  maxActive: 64,
  maxWaiting: 256,
  elicitations: { perSecond: 1, burst: 20 },
  samplings: { perSecond: 1, burst: 20 },
  progressCallbacks: { perSecond: 100, burst: 1000 },
  maxWatches: 1000,
}
