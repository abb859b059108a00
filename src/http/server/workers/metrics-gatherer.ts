/** Collects the metrics of all workers for one scrape. */

import type { Worker } from 'node:cluster'
import { byLabel, type MetricFamily } from '../../../observability/metrics/metric-family.ts'
import type { ProcessMetrics } from '../../../observability/metrics/process-metrics.ts'
import { keptEventBytes } from '../../../observability/metrics/store-metrics.ts'
import { type MetricsPart, sendTo, type ToWorker } from './worker-messages.ts'

/** A worker that takes longer is left out of this scrape, and `portico_workers` says so. */
const GATHER_MS = 1000

/** What the primary process knows itself. */
interface Counts {
  wanted: number
  running: number
  restarts: number
  /** Undefined if another process has the store. */
  keptBytes: number | undefined
}

interface Asked {
  parts: MetricsPart[]
  missing: number
  done(): void
}

export class MetricsGatherer {
  readonly #process: ProcessMetrics | undefined
  readonly #counts: () => Counts
  readonly #asked = new Map<number, Asked>()
  #number = 0

  constructor(process: ProcessMetrics | undefined, counts: () => Counts) {
    this.#process = process
    this.#counts = counts
  }

  async gather(workers: readonly { worker: Worker | undefined }[]): Promise<MetricsPart[]> {
    const id = ++this.#number
    const asked: Asked = { parts: [], missing: workers.length, done: () => {} }
    this.#asked.set(id, asked)
    for (const { worker } of workers) if (worker) sendTo<ToWorker>(worker, { kind: 'metrics', id })
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      asked.done = resolve
      timer = setTimeout(resolve, GATHER_MS)
    })
    clearTimeout(timer)
    this.#asked.delete(id)
    return [...asked.parts.sort((a, b) => Number(a.worker) - Number(b.worker)), { worker: 'primary', families: this.#own(asked.parts) }]
  }

  take(worker: string, id: number, families: MetricFamily[]): void {
    const asked = this.#asked.get(id)
    if (!asked) return
    asked.parts.push({ worker, families })
    if (--asked.missing === 0) asked.done()
  }

  stop(): void {
    this.#process?.stop()
  }

  #own(parts: readonly MetricsPart[]): MetricFamily[] {
    const { wanted, running, restarts, keptBytes } = this.#counts()
    return [
      byLabel('gauge', 'portico_workers', 'Workers: wanted, running, and those in this answer.', 'state', [
        ['wanted', wanted],
        ['running', running],
        ['answered', parts.length],
      ]),
      {
        name: 'portico_worker_restarts_total',
        help: 'Workers that were replaced.',
        type: 'counter',
        samples: [{ value: restarts }],
      },
      ...(keptBytes === undefined ? [] : [keptEventBytes(keptBytes)]),
      ...(this.#process?.families() ?? []),
    ]
  }
}
