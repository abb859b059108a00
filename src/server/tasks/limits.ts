/** The limits of tasks and their defaults. */

import { Bucket, type Rate } from '../../base/rate.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Quota } from '../quota.ts'

/** Limits for `tasks({ limits })`. A rate of `false` means no limit. */
export interface TaskLimits {
  /** Tasks of one caller, finished ones included. More are refused. */
  maxTasksPerCaller: number
  /** Tasks of the store, finished ones included. More are refused. */
  maxTasks: number
  /** The result of one task as JSON, and all its answers and steps together. */
  maxTaskBytes: number
  /** Requests of one caller about its tasks. Listening counts as one for each 50 tasks. */
  taskRequests: Rate | false
}

/** The default limits of tasks. */
export const DEFAULT_TASK_LIMITS: TaskLimits = {
  maxTasksPerCaller: 100,
  maxTasks: 1000,
  maxTaskBytes: 4 * 1024 * 1024,
  taskRequests: { perSecond: 100, burst: 200 },
}

/** The rate of requests about tasks, for each caller. */
export class RequestRates {
  readonly #buckets = new WeakMap<Quota, Bucket>()
  readonly #rate: Rate | false
  readonly #now: () => number

  constructor(rate: Rate | false, now: () => number) {
    this.#rate = rate
    this.#now = now
  }

  /** Throws ERR_RATE_LIMITED with the time to wait. A request that is larger than the burst takes all of it. */
  spend(caller: Quota, requests: number): void {
    const rate = this.#rate
    if (rate === false) return
    const now = this.#now()
    const bucket = this.#buckets.get(caller) ?? new Bucket(rate, now)
    this.#buckets.set(caller, bucket)
    const retryAfterMs = bucket.take(now, Math.min(requests, rate.burst))
    if (retryAfterMs === 0) return
    throw new McpError('ERR_RATE_LIMITED', `Too many requests: ${rate.perSecond} a second, ${rate.burst} at once (limits.taskRequests)`, {
      data: { reason: 'rate-limited', limit: 'taskRequests', retryAfterMs },
    })
  }
}
