/** The limits of the HTTP handler that are not options: no server has a reason to change them. */

import type { HttpLimits } from './options.ts'

/** Tests make them small. Programs cannot change them. */
export interface FixedHttpLimits {
  /** How often the rate of an unfinished body is checked. Short pauses of a slow network are normal; `minBodyRate` sets the rate. */
  bodyGraceMs: number
  /** Requests in progress of one caller whose client has disconnected. An honest client rarely leaves more behind. */
  maxAbandoned: number
  /** Unread bytes of one stream at which handlers are asked to wait: enough to keep a fast client busy. */
  softBufferBytes: number
  /** How long a stream may outlive its credentials: time for the client to get new ones. */
  authGraceMs: number
  /** How long an answer may take before it becomes a stream, which stays alive behind proxies and can be resumed. */
  streamAfterMs: number
  /** Events of one stream kept for a client that resumes it. `maxEventBytes` limits their memory; this limits their number. */
  maxEvents: number
  /** Memory of the events kept for all streams of one session: two streams of the default `maxEventBytes`. */
  maxKeptBytesPerSession: number
}

export const FIXED_HTTP_LIMITS: FixedHttpLimits = {
  bodyGraceMs: 10_000,
  maxAbandoned: 64,
  softBufferBytes: 256 * 1024,
  authGraceMs: 60_000,
  streamAfterMs: 5_000,
  maxEvents: 1_000,
  maxKeptBytesPerSession: 8 * 1024 * 1024,
}

/** The limits from the options, and the fixed ones. */
export type AllHttpLimits = HttpLimits & FixedHttpLimits

/** The part of `hardBufferBytes` at which a writer has to wait at the latest, so that it waits before its reader is disconnected. */
const SOFT_PART = 1 / 4

export const withFixedLimits = (given: HttpLimits, fixed: FixedHttpLimits): AllHttpLimits => ({
  ...given,
  ...fixed,
  softBufferBytes: Math.min(fixed.softBufferBytes, SOFT_PART * given.hardBufferBytes),
})
