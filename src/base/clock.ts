/** Time as a dependency, so that tests can control it. It is monotonic: changes of the system time do not affect it. */

export interface Timer {
  cancel(): void
  /** Sets whether this timer keeps the process alive. Default: false. */
  hold(isHeld: boolean): void
}

export interface Clock {
  /** Milliseconds since an arbitrary start. Never decreases. */
  now(): number
  /** Calls `fire` once after `ms`, but after 24 days at the latest. */
  after(ms: number, fire: () => void): Timer
}

/** The methods of Node's timers. Timers of other runtimes never keep a process alive. */
interface HoldingTimer {
  ref?(): void
  unref?(): void
}

/** Node fires longer timers immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1

// In Node the global `performance` is a getter that costs more than `now`. Read on first use, because it loads a module.
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
