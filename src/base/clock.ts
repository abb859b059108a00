/** Time as a dependency, so that tests can turn it by hand. Monotonic: a wall clock that jumps changes nothing. */

export interface Timer {
  cancel(): void
  /** Whether this timer alone keeps the process alive; it does not until told so. */
  hold(isHeld: boolean): void
}

export interface Clock {
  /** Milliseconds since an arbitrary start; never goes back. */
  now(): number
  /** Calls `fire` once after `ms`; after many days it may be earlier. */
  after(ms: number, fire: () => void): Timer
}

/** What Node's timer objects add; elsewhere timers never hold a process. */
interface HoldingTimer {
  ref?(): void
  unref?(): void
}

// Node fires a timer that is set for longer at once.
const MAX_TIMER_MS = 2 ** 31 - 1

// In Node the global is a getter, which costs more than the reading; looked up late, because it loads a module.
let timeline: typeof performance | undefined

export const systemClock: Clock = {
  now: () => {
    timeline ??= performance
    return timeline.now()
  },
  after: (ms, fire) => {
    const timer = setTimeout(fire, Math.min(ms, MAX_TIMER_MS))
    const holding = timer as HoldingTimer
    holding.unref?.()
    return {
      cancel: () => clearTimeout(timer),
      hold: (isHeld) => (isHeld ? holding.ref?.() : holding.unref?.()),
    }
  },
}
