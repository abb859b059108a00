/** Proof that the cost of something grows no faster than its input. */

import { expect } from 'vitest'

const MOST = 2.5
/** Other work on the machine can only make a run look dearer: what counts is the cheapest of several. */
const MIN_REPEATS = 3
const MAX_REPEATS = 25
/** Below this the clock says more than the code does. */
const LEAST_MS = 2

/** Doubles the input three times; the CPU time may grow by 2.5 a doubling, taken together: caches make steps of their own. */
export function expectLinear(smallest: number, prepare: (size: number) => () => void): void {
  const runs = [1, 2, 4, 8].map((factor) => prepare(factor * smallest))
  const costs = runs.map(() => Number.POSITIVE_INFINITY)
  const growth = (): number => ((costs.at(-1) as number) / Math.max(LEAST_MS, costs[0] as number)) ** (1 / (costs.length - 1))
  for (const run of runs) run()
  for (let repeat = 1; repeat <= MAX_REPEATS; repeat++) {
    runs.forEach((run, i) => {
      costs[i] = Math.min(costs[i] as number, cpuMs(run))
    })
    if (repeat >= MIN_REPEATS && growth() <= MOST) break
  }
  expect(growth(), `CPU time at sizes 1, 2, 4, 8: ${costs.join(', ')} ms`).toBeLessThanOrEqual(MOST)
}

export function cpuMs(run: () => void): number {
  const passed = cpuClock()
  run()
  return passed()
}

/** Starts a clock of the CPU time of this process, in milliseconds. Other processes of a busy machine do not make it go faster. */
export function cpuClock(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}
