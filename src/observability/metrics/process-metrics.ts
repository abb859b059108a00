/** Metrics of the process: event loop, memory, processor time. */

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { gauge, type MetricFamily } from './metric-family.ts'

/** How often the event loop is checked. The delay of a check beyond this time is the lag. */
const RESOLUTION_MS = 20
const QUANTILES = [0.5, 0.9, 0.99]

export class ProcessMetrics {
  readonly #delay: IntervalHistogram

  constructor() {
    this.#delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    this.#delay.enable()
  }

  /** The lag is that since the last call, so that an old stall does not hide the present. */
  *families(): Iterable<MetricFamily> {
    const delay = this.#delay
    yield {
      name: 'portico_event_loop_lag_seconds',
      help: 'Lag of the event loop since the last scrape.',
      type: 'gauge',
      samples: [
        ...QUANTILES.map((quantile) => ({ labels: { quantile }, value: lagOf(delay.count === 0 ? 0 : delay.percentile(quantile * 100)) })),
        { labels: { quantile: 1 }, value: lagOf(delay.count === 0 ? 0 : delay.max) },
      ],
    }
    delay.reset()
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    yield {
      name: 'process_cpu_seconds_total',
      help: 'Processor time of this process.',
      type: 'counter',
      samples: [{ value: (user + system) / 1e6 }],
    }
    yield gauge('process_resident_memory_bytes', 'Memory of this process.', rss)
    yield gauge('process_heap_used_bytes', 'Memory of the objects of this process.', heapUsed)
    yield gauge('process_start_time_seconds', 'When this process began, in seconds since 1970.', Date.now() / 1000 - process.uptime())
  }

  stop(): void {
    this.#delay.disable()
  }
}

const lagOf = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000)
