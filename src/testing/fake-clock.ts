/** A clock for tests. */

import type { Clock, Timer } from '../base/clock.ts'

/** A clock that stands still until `advance` is called. */
export interface FakeClock extends Clock {
  /** Moves the time forward. Fires due timers in order and lets promises settle in between. */
  advance(ms: number): Promise<void>
}

/**
 * A clock that stands still until it is advanced. Pass it as `clock` to servers and clients.
 *
 * @example
 * const clock = fakeClock()
 * const { client } = await pair(server, { clock })
 * const call = client.call('wait', {}, { timeoutMs: 1000 }).catch((error) => error.code)
 * await clock.advance(1000)
 * await call // 'ERR_TIMEOUT'
 */
export function fakeClock(): FakeClock {
  let now = 0
  const timers = new Set<{ at: number; fire: () => void }>()
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
  return {
    now: () => now,
    after: (ms, fire): Timer => {
      const timer = { at: now + ms, fire }
      timers.add(timer)
      return { cancel: () => timers.delete(timer), hold: () => {} }
    },
    advance: async (ms) => {
      const end = now + ms
      for (;;) {
        await settle()
        const next = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (!next) break
        timers.delete(next)
        now = Math.max(now, next.at)
        next.fire()
      }
      now = end
      await settle()
    },
  }
}
