/** Metrics in the text format of Prometheus. */

export type Labels = Readonly<Record<string, string | number>>

export interface Sample {
  /** Added to the name of the metric: `_bucket`, `_sum` or `_count` of a histogram. */
  suffix?: string
  labels?: Labels
  value: number
}

/** A metric with all its samples. */
export interface MetricFamily {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: readonly Sample[]
}

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export const gauge = (name: string, help: string, value: number): MetricFamily => ({ name, help, type: 'gauge', samples: [{ value }] })

/** A gauge or counter with one label. */
export function byLabel(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  label: string,
  values: Iterable<readonly [string, number]>,
): MetricFamily {
  return { name, help, type, samples: [...values].map(([of, value]) => ({ labels: { [label]: of }, value })) }
}

export function prometheusText(families: Iterable<MetricFamily>): string {
  let text = ''
  for (const { name, help, type, samples } of families) {
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    for (const { suffix = '', labels, value } of samples)
      text += `${name}${suffix}${labels ? labelText(labels) : ''} ${numberText(value)}\n`
  }
  return text
}

const labelText = (labels: Labels): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${String(value).replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`)
    .join(',')}}`

const numberText = (value: number): string => (value === Number.POSITIVE_INFINITY ? '+Inf' : String(value))
