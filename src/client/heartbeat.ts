/** Looks now and then whether a quiet server is still there. */

import { asText } from '../base/as-text.ts'
import type { Clock, Timer } from '../base/clock.ts'

export interface HeartbeatOptions {
  clock: Clock
  intervalMs: number
  /** When something was last heard. */
  heardAt(): number
  /** Whether an answer is waited for. */
  isWaiting(): boolean
  ping(timeoutMs: number): Promise<unknown>
  /** Two pings in a row went unanswered. */
  onDead(error: unknown): void
  onWarning(message: string): void
}

const MISSES = 2
const PING_TIMEOUT_MS = 10_000

/** Returns what stops it. */
export function startHeartbeat(options: HeartbeatOptions): () => void {
  const { clock, intervalMs } = options
  let timer: Timer | undefined
  let misses = 0
  let isStopped = false

  const beat = async (): Promise<void> => {
    // Anything heard since the last look is as good as an answer. A server that works on a request may be unable to
    // answer two at a time, and the request has a timeout of its own.
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
