/** The types of health checks and metrics. Only types, because the endpoint loads the rest on use. */

import type { MetricFamily } from '../../../observability/metrics/metric-family.ts'

/** A part that does not work as it should. */
export interface HealthProblem {
  /** `degraded`: the server answers requests, but not as it should. `down`: it must get no requests until the problem is solved. */
  state: 'degraded' | 'down'
  /** Says what is wrong, for the operator. Everyone who can reach `/readyz` can read it. */
  reason: string
}

/** Returns undefined if everything works. An error counts as `down`, and so does an answer without a valid state. */
export type HealthCheck = () => HealthProblem | undefined | Promise<HealthProblem | undefined>

/** Options of `health`. */
export interface HealthOptions {
  /**
   * Your own checks, by name. Portico uses `capacity`, `workers`, `store` and `keys` itself. A check may take 750 ms. Its answer is used for
   * one second.
   */
  checks?: Readonly<Record<string, HealthCheck>>
}

/** Options of `metrics`. */
export interface MetricsOptions {
  /** Scrapers must send it as a bearer token. It has at least 16 visible ASCII characters. `metrics: true` requires no token. */
  token: string | undefined
}

/** How a worker answers with the metrics of all workers. */
export interface GatheredMetricsOptions extends MetricsOptions {
  /** Called once, with a function that reads the metrics of this process. */
  serve(own: () => Promise<MetricFamily[]>): void
  /** The metrics of all processes. */
  gather(): Promise<MetricFamily[]>
}
