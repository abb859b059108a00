/** The limits of a client and their defaults. */

import type { Rate } from '../base/rate.ts'

/** Limits for `connect(to, { limits })`. A rate of `false` means no limit. */
export interface ClientLimits {
  /** How long a request may take without an answer or progress. */
  timeoutMs: number
  /** How long a request may take in total. */
  maxTotalMs: number
  /** How long to wait for a call that became a task. */
  maxTaskMs: number
  /** How long to wait for the answer to the probe before also trying the handshake. A process that is starting gets twice as long. */
  probeTimeoutMs: number
  /** How long one attempt to connect may take. There may be a second attempt. */
  connectTimeoutMs: number
  /** Items in one list. */
  maxItems: number
  /** Forms and pages of one server. */
  elicitations: Rate | false
  /** Sampling requests of one server. */
  samplings: Rate | false
}

/** The default limits of a client. */
export const DEFAULT_CLIENT_LIMITS: ClientLimits = {
  timeoutMs: 60_000,
  maxTotalMs: 15 * 60_000,
  maxTaskMs: 24 * 60 * 60_000,
  probeTimeoutMs: 3_000,
  connectTimeoutMs: 60_000,
  maxItems: 10_000,
  elicitations: { perSecond: 1, burst: 20 },
  samplings: { perSecond: 1, burst: 20 },
}
