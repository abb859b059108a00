/** The limits of the HTTP handler that are not options: no server has a reason to change them. */

import { DEFAULT_READ_BOUNDS, type ReadBounds } from '../../jsonrpc/read.ts'
import type { HttpLimits } from './options.ts'

/** Tests make them small. Programs cannot change them. */
export interface FixedHttpLimits extends Omit<ReadBounds, 'maxValues'> {
  /** How often the rate of an unfinished body is checked. Short pauses of a slow network are normal; `minBodyRate` sets the rate. */
  bodyGraceMs: number
  /** Requests in progress of one caller whose client has disconnected. An honest client rarely leaves more behind. */
  maxAbandoned: number
  /** Unread bytes of one stream at which handlers are asked to wait: enough to keep a fast client busy. */
  softBufferBytes: number
  /** Unread bytes of one stream at which the client is disconnected: four times what a writer that waits leaves unread. */
  hardBufferBytes: number
  /** How long a client may read nothing before it is disconnected. A client that works reads within seconds. */
  stallMs: number
  /** Streams that one session has opened or resumed. A client needs one for each call that takes long. */
  maxStreamsPerSession: number
  /** Open `subscriptions/listen` requests of one authenticated caller. One request can name many resources. */
  maxListensPerPrincipal: number
  /** How long a stream that belongs to no request stays open. Then the client opens it again, or a dead one is gone. */
  maxStreamAgeMs: number
  /** How often the client of an open stream is pinged. Half of the idle time after which many proxies drop a connection. */
  pingMs: number
  /** How long a stream may outlive its credentials: time for the client to get new ones. */
  authGraceMs: number
  /** How long an answer may take before it becomes a stream, which stays alive behind proxies and can be resumed. */
  streamAfterMs: number
  /** Memory of the events of one stream that are kept for a client that resumes it: one message of the default `maxBodyBytes`. */
  maxEventBytes: number
  /** How long events are kept after the stream ended or the client disconnected. A client that works resumes within minutes. */
  eventTtlMs: number
  /** Events of one stream kept for a client that resumes it. `maxEventBytes` limits their memory; this limits their number. */
  maxEvents: number
  /** Memory of the events kept for all streams of one session: two streams of `maxEventBytes`. */
  maxKeptBytesPerSession: number
  /** Outcomes and steps of rounds that one replica puts into the store in 15 minutes, for one caller: 128 of the largest outcomes. */
  maxRoundBytesPerCaller: number
  /** The same for all callers together: eight that keep all they may. */
  maxRoundBytes: number
}

export const FIXED_HTTP_LIMITS: FixedHttpLimits = {
  maxDepth: DEFAULT_READ_BOUNDS.maxDepth,
  maxKeys: DEFAULT_READ_BOUNDS.maxKeys,
  maxBatch: DEFAULT_READ_BOUNDS.maxBatch,
  bodyGraceMs: 10_000,
  maxAbandoned: 64,
  softBufferBytes: 256 * 1024,
  hardBufferBytes: 1024 * 1024,
  stallMs: 15_000,
  maxStreamsPerSession: 8,
  maxListensPerPrincipal: 16,
  maxStreamAgeMs: 30 * 60_000,
  pingMs: 30_000,
  authGraceMs: 60_000,
  streamAfterMs: 5_000,
  maxEventBytes: 4 * 1024 * 1024,
  eventTtlMs: 10 * 60_000,
  maxEvents: 1_000,
  maxKeptBytesPerSession: 8 * 1024 * 1024,
  maxRoundBytesPerCaller: 32 * 1024 * 1024,
  maxRoundBytes: 256 * 1024 * 1024,
}

/** The limits from the options, and the fixed ones. */
export type AllHttpLimits = HttpLimits & FixedHttpLimits
