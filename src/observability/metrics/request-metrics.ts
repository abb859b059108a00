/** Counts requests by method, tool and outcome, and measures how long they took. The number of series is limited. */

import { INTERNAL_ERROR } from '../../jsonrpc/message.ts'
import { METHODS } from '../../protocol/methods.ts'
import { INTERNAL_REASONS, reasonLabel } from '../error-reasons.ts'
import type { Outcome, RequestRecord } from '../request-record.ts'
import { DurationHistogram } from './duration-histogram.ts'
import { byLabel, type MetricFamily, type Sample } from './metric-family.ts'

/** Names beyond this number, and names that the server does not know, are counted together. */
const MAX_SERIES = 500
const MAX_NAMES = 100
const OTHER = 'other'

/** The requests of one method and tool. */
class Series {
  readonly outcomes = new Map<Outcome, number>()
  readonly durations = new DurationHistogram()

  add(outcome: Outcome, seconds: number): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1)
    this.durations.observe(seconds)
  }
}

export class RequestMetrics {
  readonly #hasTool: (name: string) => boolean
  /** By method, then by tool. The key of requests without a tool is the empty text. */
  readonly #series = new Map<string, Map<string, Series>>()
  #count = 0
  /** By code and reason. Alarms compare with the number before, which the first error after a start must have, too. */
  readonly #errors = new Map(INTERNAL_REASONS.map((reason) => [`${INTERNAL_ERROR} ${reason}`, 0]))
  readonly #limits = new Map<string, number>()
  readonly #bytes = { request: 0, response: 0 }

  /** @param hasTool whether the server has a tool of this name */
  constructor(hasTool: (name: string) => boolean) {
    this.#hasTool = hasTool
  }

  add(record: RequestRecord): void {
    const { method, target, outcome, durationMs, code, limit, requestBytes = 0, responseBytes } = record
    const name = this.#methodName(method, outcome)
    const tool = name !== 'tools/call' || target === undefined ? '' : this.#hasTool(target) ? target : OTHER
    this.#seriesOf(name, tool).add(outcome, durationMs / 1000)
    this.#bytes.request += requestBytes
    this.#bytes.response += responseBytes
    // The client gets a crash of a tool as a result. Operators look for it where they look for other errors of their code.
    const errorCode = outcome === 'tool_crash' ? INTERNAL_ERROR : code
    if (errorCode !== undefined) count(this.#errors, `${errorCode} ${reasonLabel(record)}`)
    if (limit !== undefined) count(this.#limits, limit)
  }

  /** Counts that a limit was reached before a request could be answered. */
  limitReached(limit: string): void {
    count(this.#limits, limit)
  }

  *families(): Iterable<MetricFamily> {
    const totals: Sample[] = []
    const durations: Sample[] = []
    for (const [method, tools] of this.#series) {
      for (const [tool, series] of tools) {
        const labels = { method, tool }
        for (const [outcome, value] of series.outcomes) totals.push({ labels: { ...labels, outcome }, value })
        durations.push(...series.durations.samples(labels))
      }
    }
    yield { name: 'portico_requests_total', help: 'Requests by method, tool and outcome.', type: 'counter', samples: totals }
    yield {
      name: 'portico_request_duration_seconds',
      help: 'Time from the arrival of a request to its answer.',
      type: 'histogram',
      samples: durations,
    }
    yield {
      name: 'portico_request_errors_total',
      help: 'Requests that were answered with an error, that crashed in a tool, or that the server had to end, by code and reason.',
      type: 'counter',
      samples: [...this.#errors].map(([key, value]) => {
        const [code = '', reason = ''] = key.split(' ')
        return { labels: { code, reason }, value }
      }),
    }
    yield byLabel(
      'counter',
      'portico_limits_reached_total',
      'Requests and streams that a limit stopped, rate limits included.',
      'limit',
      this.#limits,
    )
    yield byLabel('counter', 'portico_message_bytes_total', 'Bytes of requests and of their answers.', 'of', Object.entries(this.#bytes))
  }

  /** A method of the protocol, or one of an extension that has given a result before. */
  #methodName(method: string, outcome: Outcome): string {
    if (METHODS.has(method) || this.#series.has(method)) return method
    return outcome === 'ok' && this.#series.size < MAX_NAMES ? method : OTHER
  }

  #seriesOf(method: string, tool: string): Series {
    let tools = this.#series.get(method)
    if (!tools) {
      tools = new Map()
      this.#series.set(method, tools)
    }
    let series = tools.get(tool)
    if (series) return series
    // Tools may come and go while the server runs.
    if (this.#count >= MAX_SERIES && tool !== '' && tool !== OTHER) return this.#seriesOf(method, OTHER)
    series = new Series()
    this.#count++
    tools.set(tool, series)
    return series
  }
}

/** Handlers may throw errors with any code and limit, so that the number of names is limited here, too. */
export function count(counts: Map<string, number>, name: string): void {
  const key = counts.has(name) || counts.size < MAX_NAMES ? name : OTHER
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
