/** Every bound of a client, with its default. Each is an option of the same name. */

import type { Rate } from '../base/rate.ts'

export interface ClientLimits {
  /** How long a request may go without an answer or progress, and a wish to listen without agreement. */
  timeoutMs: number
  /** How long a request may take in all. */
  maxTotalMs: number
  /** How long to wait for an answer to the first probe before trying the handshake as well. */
  probeTimeoutMs: number
  /** How long one try to open a connection may take. There may be a second one. */
  connectTimeoutMs: number
  /** Pages one list may have. */
  maxPages: number
  /** Items one list may have. */
  maxItems: number
  /** Times a call may come back with questions. */
  maxRounds: number
  /** Questions one round may hold. */
  maxQuestions: number
  /** Requests of the server worked on at the same time. */
  maxActive: number
  /** Requests of the server kept waiting beyond those. */
  maxWaiting: number
  /** Forms and pages one server may put before the person. */
  elicitations: Rate | false
  /** Messages one server may ask the model for. */
  samplings: Rate | false
  /** Progress callbacks of one request; what is over is left out until there is room, the newest is kept. */
  progressCallbacks: Rate
  /** Resources and lists watched at the same time. */
  maxWatches: number
  /** Responses kept. */
  maxCached: number
}

export const DEFAULT_CLIENT_LIMITS: ClientLimits = {
  timeoutMs: 60_000,
  maxTotalMs: 15 * 60_000,
  probeTimeoutMs: 3_000,
  connectTimeoutMs: 60_000,
  maxPages: 64,
  maxItems: 10_000,
  maxRounds: 10,
  maxQuestions: 32,
  maxActive: 64,
  maxWaiting: 256,
  elicitations: { perSecond: 1, burst: 20 },
  samplings: { perSecond: 1, burst: 20 },
  progressCallbacks: { perSecond: 100, burst: 1000 },
  maxWatches: 1000,
  maxCached: 1000,
}
