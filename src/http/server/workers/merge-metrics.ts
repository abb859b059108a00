/** Puts the metrics of several processes into one answer. */

import type { MetricFamily, Sample } from '../../../observability/metrics/metric-family.ts'
import type { MetricsPart } from './worker-messages.ts'

/**
 * Every sample gets the label `worker`. A sum would be wrong: it falls when a worker is replaced, and a scraper takes that for a restart
 * of everything.
 */
export function mergeMetrics(parts: readonly MetricsPart[]): MetricFamily[] {
  const merged = new Map<string, MetricFamily & { samples: Sample[] }>()
  for (const { worker, families } of parts) {
    for (const family of families) {
      const { name } = family
      const all = merged.get(name) ?? { ...family, samples: [] }
      merged.set(name, all)
      for (const sample of family.samples) all.samples.push({ ...sample, labels: { worker, ...sample.labels } })
    }
  }
  return [...merged.values()]
}
