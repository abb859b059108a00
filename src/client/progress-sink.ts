/** Delivers the progress of one request to its callback: only growing values, within the rate limit. */

import type { Clock, Timer } from '../base/clock.ts'
import { isObject } from '../base/json.ts'
import { Bucket, type Rate } from '../base/rate.ts'
import type { Params } from '../jsonrpc/message.ts'
import type { Progress } from '../protocol/model/progress.ts'

/** Progress callbacks of one request. Beyond the rate only the newest progress is kept, and delivered later: a screen shows no more. */
export const PROGRESS_RATE: Rate = { perSecond: 100, burst: 1000 }

export class ProgressSink {
  readonly #deliver: (progress: Progress) => void
  readonly #clock: Clock
  readonly #bucket: Bucket
  #last = Number.NEGATIVE_INFINITY
  #kept: Progress | undefined
  #timer: Timer | undefined

  constructor(deliver: (progress: Progress) => void, rate: Rate, clock: Clock) {
    this.#deliver = deliver
    this.#clock = clock
    this.#bucket = new Bucket(rate, clock.now())
  }

  /** False when the value did not grow. */
  take(params: Params): boolean {
    const { progress, total, message } = params
    if (typeof progress !== 'number' || !(progress > this.#last)) return false
    this.#last = progress
    const notice: Progress = { progress }
    if (typeof total === 'number') notice.total = total
    if (typeof message === 'string') notice.message = message
    this.#offer(notice)
    return true
  }

  /** Call at the end of the request. Delivers the pending progress, and nothing afterwards. */
  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#kept) this.#deliver(this.#kept)
    this.#kept = undefined
    this.#last = Number.POSITIVE_INFINITY
  }

  #offer(notice: Progress): void {
    if (this.#timer) {
      this.#kept = notice
      return
    }
    const waitMs = this.#bucket.take(this.#clock.now())
    if (waitMs === 0) return this.#deliver(notice)
    this.#kept = notice
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = undefined
      const kept = this.#kept
      this.#kept = undefined
      if (kept) this.#offer(kept)
    })
  }
}

export const progressTokenIn = (params: Params | undefined): unknown => (isObject(params) ? params.progressToken : undefined)
