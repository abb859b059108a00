/** Counts the commands to the store that replicas share, and says how the store and this replica are. */

import { within } from '../../base/wait.ts'
import type { StoreCommand } from '../../protocol/interfaces/store-command.ts'
import { DurationHistogram } from './duration-histogram.ts'
import { gauge, type MetricFamily, type Sample } from './metric-family.ts'

/** The same name at every process that may keep some: without a store each, with workers the one that has the store. */
export const keptEventBytes = (bytes: number): MetricFamily =>
  gauge('portico_kept_event_bytes', 'Memory of the events kept for clients that resume a stream.', bytes)

/** The part of a store that is measured. */
export interface MeasuredStore {
  readonly replica: { readonly isHeld: boolean }
  onCommand?(listener: (command: StoreCommand) => void): () => void
  health(): string | undefined
}

interface Series {
  outcomes: Map<string, number>
  durations: DurationHistogram
}

/** A scrape does not wait longer for the number of sessions. */
const COUNT_MS = 750

export class StoreMetrics {
  readonly #store: MeasuredStore
  readonly #countSessions: () => Promise<number>
  readonly #commands = new Map<string, Series>()
  readonly #stop: (() => void) | undefined

  /** @param countSessions the sessions of all replicas */
  constructor(store: MeasuredStore, countSessions: () => Promise<number>) {
    this.#store = store
    this.#countSessions = countSessions
    this.#stop = store.onCommand?.((command) => this.#add(command))
  }

  stop(): void {
    this.#stop?.()
  }

  /** The numbers of this process. */
  families(): MetricFamily[] {
    const totals: Sample[] = []
    const durations: Sample[] = []
    for (const [operation, series] of this.#commands) {
      for (const [outcome, value] of series.outcomes) totals.push({ labels: { operation, outcome }, value })
      durations.push(...series.durations.samples({ operation }))
    }
    return [
      { name: 'portico_store_operations_total', help: 'Commands to the store by operation and outcome.', type: 'counter', samples: totals },
      {
        name: 'portico_store_operation_duration_seconds',
        help: 'Time from a command to the store to its reply.',
        type: 'histogram',
        samples: durations,
      },
      gauge('portico_store_up', '1 while the store can be used.', this.#store.health() === undefined ? 1 : 0),
      gauge('portico_replica_lease_held', '1 while this replica has its lease.', this.#store.replica.isHeld ? 1 : 0),
    ]
  }

  /** The sessions of all replicas; nothing if the store does not answer. */
  async sessions(): Promise<MetricFamily[]> {
    const count = await within(COUNT_MS, this.#countSessions(), undefined).catch(() => undefined)
    return count === undefined ? [] : [gauge('portico_store_sessions', 'Sessions of all replicas.', count)]
  }

  #add({ name, durationMs, outcome }: StoreCommand): void {
    let series = this.#commands.get(name)
    if (!series) {
      series = { outcomes: new Map(), durations: new DurationHistogram() }
      this.#commands.set(name, series)
    }
    series.outcomes.set(outcome, (series.outcomes.get(outcome) ?? 0) + 1)
    series.durations.observe(durationMs / 1000)
  }
}
