/** A histogram of durations. */

import type { Sample } from './metric-family.ts'

/** The upper bounds of the buckets, in seconds. Those from 10 ms on are the ones that OpenTelemetry recommends for MCP. */
const BOUNDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

export class DurationHistogram {
  readonly #counts = new Float64Array(BOUNDS.length + 1)
  #sum = 0

  observe(seconds: number): void {
    this.#sum += seconds
    let at = 0
    while (at < BOUNDS.length && seconds > (BOUNDS[at] as number)) at++
    this.#counts[at] = (this.#counts[at] as number) + 1
  }

  samples(labels: Record<string, string>): Sample[] {
    let count = 0
    const buckets = [...BOUNDS, Number.POSITIVE_INFINITY].map((bound, i) => {
      count += this.#counts[i] as number
      return { suffix: '_bucket', labels: { ...labels, le: bound === Number.POSITIVE_INFINITY ? '+Inf' : bound }, value: count }
    })
    return [...buckets, { suffix: '_sum', labels, value: this.#sum }, { suffix: '_count', labels, value: count }]
  }
}
