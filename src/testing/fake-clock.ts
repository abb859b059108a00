/** Time that stands still until it is moved. */

import type { Clock, Timer } from '../base/clock.ts'

export interface FakeClock extends Clock {
  /** Moves time forward and fires what is due, in order, letting promises settle in between. */
  advance(ms: number): Promise<void>
}

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
