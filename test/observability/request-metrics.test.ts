/** Durations, from the arrival of a request to the text that a scraper reads. */

import { expect, it, vi } from 'vitest'
import type { Outlet } from '../../src/jsonrpc/outlet.ts'
import { DEFAULT_READ_BOUNDS, read } from '../../src/jsonrpc/read.ts'
import { prometheusText } from '../../src/observability/metrics/metric-family.ts'
import { RequestMetrics } from '../../src/observability/metrics/request-metrics.ts'
import { observed } from '../../src/observability/observed-service.ts'
import type { RequestRecord } from '../../src/observability/request-record.ts'
import { createServer } from '../../src/server/index.ts'
import { envelope } from '../support/raw-channel.ts'

it('names the reasons of errors that Portico knows, and counts all others together', () => {
  const metrics = new RequestMetrics(() => true)
  const record = { method: 'tools/call', target: 'x', outcome: 'error', code: -32603, durationMs: 1, responseBytes: 1 } as RequestRecord
  const REASONS = ['rate-limited', 'limit', 'too-many-requests', 'replica_lost', 'store_down', 'shutdown']
  for (const reason of [undefined, ...REASONS]) metrics.add({ ...record, reason })
  for (let i = 0; i < 200; i++) metrics.add({ ...record, reason: `made-up-${i}` })
  metrics.add({ ...record, reason: 'a b', reference: 'Y-fQ79uB' })
  metrics.add({ ...record, outcome: 'tool_crash', code: undefined, reference: 'Y-fQ79uB' })
  metrics.add({ ...record, outcome: 'tool_error', code: undefined })
  metrics.add({ ...record, code: -32600, reason: 'insufficient_scope' })
  const lines = prometheusText(metrics.families()).split('\n')
  const counts = lines.flatMap((line) => /^portico_request_errors_total\{(.*)\} (\d+)$/.exec(line)?.slice(1, 3).join(' ') ?? [])
  const expected = [['', 1], ...REASONS.map((reason) => [reason, 1]), ['other', 200], ['crash', 2]]
  expect(counts.filter((count) => !count.endsWith(' 0')).toSorted()).toEqual(
    [...expected.map(([reason, n]) => `code="-32603",reason="${reason}" ${n}`), 'code="-32600",reason="insufficient_scope" 1'].toSorted(),
  )
})

it('counts a duration in the first bucket that has room for it, and in all larger ones', () => {
  let [now, workMs] = [0, 0]
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const server = createServer({ name: 'test', version: '1', limits: { toolCalls: false } })
  const metrics = new RequestMetrics((name) => name === 'work')
  const outlet: Outlet = { push: () => {}, answer: () => {}, drop: () => {} }
  const channel = observed(server, (record) => metrics.add(record)).open({ outlet })
  server.tool('work', {}, () => {
    now = workMs
    return 'done'
  })
  for (workMs of [0.5, 1, 1.001, 10, 15, 200, 250, 299_999, 300_000, 300_001]) {
    now = 0
    const params = { name: 'work', arguments: {}, _meta: envelope() }
    channel.receive(read(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }), DEFAULT_READ_BOUNDS), outlet)
  }
  clock.mockRestore()
  const lines = prometheusText(metrics.families()).split('\n')
  const valuesOf = (name: string): string[] =>
    lines.filter((line) => line.startsWith(`portico_request_duration_seconds_${name}{`)).map((line) => line.replace(/^\w+\{/, ''))
  const labels = 'method="tools/call",tool="work"'
  const counts = '0.001:2 0.002:3 0.005:3 0.01:4 0.02:5 0.05:5 0.1:5 0.2:6 0.5:7 1:7 2:7 5:7 10:7 30:7 60:7 120:7 300:9 +Inf:10'.split(' ')
  expect(valuesOf('bucket')).toEqual(counts.map((each) => `${labels},le="${each.replace(':', '"} ')}`))
  expect(valuesOf('count')).toEqual([`${labels}} 10`])
  expect(Number(valuesOf('sum')[0]?.split(' ')[1])).toBeCloseTo(900.477501, 9)
})
