/** Durations, from the arrival of a request to the text that a scraper reads. */

import { expect, it, vi } from 'vitest'
import type { Outlet } from '../../src/jsonrpc/outlet.ts'
import { DEFAULT_READ_BOUNDS, read } from '../../src/jsonrpc/read.ts'
import { prometheusText } from '../../src/observability/metrics/metric-family.ts'
import { RequestMetrics } from '../../src/observability/metrics/request-metrics.ts'
import { observed } from '../../src/observability/observed-service.ts'
import { createServer } from '../../src/server/index.ts'
import { envelope } from '../support/raw-channel.ts'

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
