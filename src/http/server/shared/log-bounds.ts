/** How much of each stream the store keeps. */

import type { LogBounds } from '../../../store/stream-logs.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'

/** Ended streams of one session that are kept, as without a store, unless more may end at once when a replica dies. */
const MIN_ENDED = 16

export const boundsOf = (limits: AllHttpLimits): LogBounds => ({
  maxEvents: limits.maxEvents,
  maxBytes: limits.maxEventBytes,
  maxSessionBytes: limits.maxKeptBytesPerSession,
  endedTtlMs: limits.eventTtlMs,
  maxEnded: Math.max(MIN_ENDED, limits.maxInFlightPerSession),
})
