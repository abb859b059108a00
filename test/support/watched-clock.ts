/** A clock to turn by hand that knows which timers are open and which of them keep a process alive. */

import type { Timer } from '../../src/base/clock.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'

export interface WatchedClock extends FakeClock {
  /** Timers that have neither fired nor been cancelled. */
  open(): number
  /** Those of them that keep the process alive. */
  held(): number
}

export function watchedClock(): WatchedClock {
  const clock = fakeClock()
  const timers = new Map<object, { isHeld: boolean }>()
  return {
    now: clock.now,
    advance: clock.advance,
    after: (ms, fire): Timer => {
      const key = {}
      const state = { isHeld: false }
      timers.set(key, state)
      const timer = clock.after(ms, () => {
        timers.delete(key)
        fire()
      })
      return {
        cancel: () => {
          timers.delete(key)
          timer.cancel()
        },
        hold: (isHeld) => {
          state.isHeld = isHeld
        },
      }
    },
    open: () => timers.size,
    held: () => [...timers.values()].filter(({ isHeld }) => isHeld).length,
  }
}
