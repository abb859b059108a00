/** Pings a server that has been silent for a while. */

import { asText } from '../base/as-text.ts'
import type { Clock, Timer } from '../base/clock.ts'

export interface HeartbeatOptions {
  clock: Clock
  intervalMs: number
  /** The time of the last message from the server. */
  heardAt(): number
  /** Whether a request is unanswered. */
  isWaiting(): boolean
  ping(timeoutMs: number): Promise<unknown>
  /** Called when two pings in a row failed. */
  onDead(error: unknown): void
  onWarning(message: string): void
}

const MISSES = 2
const PING_TIMEOUT_MS = 10_000

/** Returns a function that stops the heartbeat. */
export function startHeartbeat(options: HeartbeatOptions): () => void {
  const { clock, intervalMs } = options
  let timer: Timer | undefined
  let misses = 0
  let isStopped = false

  const beat = async (): Promise<void> => {
    // Any message is as good as a pong. No ping while a request is open: the server may be unable to answer two at a
    // time, and the request has its own timeout.
    if (clock.now() - options.heardAt() < intervalMs || options.isWaiting()) misses = 0
    else {
      try {
        await options.ping(Math.min(PING_TIMEOUT_MS, intervalMs))
        misses = 0
      } catch (error) {
        misses++
        if (isStopped) return
        options.onWarning(`Ping failed (${misses} of ${MISSES}): ${asText(error)}`)
        if (misses >= MISSES) return options.onDead(error)
      }
    }
    schedule()
  }
  const schedule = (): void => {
    if (!isStopped) timer = clock.after(intervalMs, () => void beat())
  }

  schedule()
  return () => {
    isStopped = true
    timer?.cancel()
  }
}
