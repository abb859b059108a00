/** Limits the rate of log messages and standard error lines of a server. */

import type { Clock } from '../../base/clock.ts'
import { Bucket, type Rate } from '../../base/rate.ts'
import { counted } from '../../base/text/counted.ts'
import type { ServerLog } from '../model/event.ts'

export interface LogReceiver {
  onLog?(log: ServerLog): void
  onWarning?(message: string): void
}

export class LogGate {
  readonly #bucket: Bucket
  readonly #clock: Clock
  readonly #receiver: LogReceiver
  #dropped = 0

  constructor(rate: Rate, clock: Clock, receiver: LogReceiver) {
    this.#bucket = new Bucket(rate, clock.now())
    this.#clock = clock
    this.#receiver = receiver
  }

  pass(log: ServerLog): void {
    if (this.#bucket.take(this.#clock.now()) > 0) {
      this.#dropped++
      return
    }
    if (this.#dropped > 0)
      this.#receiver.onWarning?.(`${counted(this.#dropped, 'log message was', 'log messages were')} left out (limits.logs)`)
    this.#dropped = 0
    this.#receiver.onLog?.(log)
  }
}
