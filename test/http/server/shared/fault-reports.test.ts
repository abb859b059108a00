/** What the log says of faults of the store: enough to see each of them, and never a line for each request. */

import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest'
import { FaultReports } from '../../../../src/http/server/shared/fault-reports.ts'
import { McpError } from '../../../../src/protocol/errors.ts'

let log: MockInstance<typeof console.error>
beforeEach(() => {
  log = vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => void vi.restoreAllMocks())

const lines = (): string[] => log.mock.calls.splice(0).map((words) => words.join(' '))

function reporting() {
  let now = 0
  const reports = new FaultReports({ now: () => now, after: () => ({ cancel: () => {}, hold: () => {} }) })
  /** Reports a fault twice a second. Returns the lines. */
  const during = (seconds: number, fault: unknown): string[] => {
    for (const end = now + seconds * 1000; now < end; now += 500) reports.report(fault)
    return lines()
  }
  return { reports, during }
}

const AWAY = new McpError('ERR_STORE_DOWN', 'away')
const DAMAGED = new McpError('ERR_STORE', 'damaged')

test('the same fault is reported once a minute, and an outage at once after the store worked', () => {
  const { reports, during } = reporting()
  expect(during(60, AWAY)).toEqual(['portico: store: away'])
  expect(during(120, AWAY)).toHaveLength(2)
  expect(during(5, DAMAGED)).toEqual(['portico: store: damaged'])
  expect(during(5, DAMAGED)).toEqual([])
  reports.reset()
  expect(during(5, AWAY)).toHaveLength(1)
  // That the store works does not repair what is damaged.
  expect(during(5, DAMAGED)).toEqual([])
  expect(during(60, new Error('a bug'))).toEqual(['portico: sessions of several replicas: a bug'])
})

test('faults with different texts are reported at once, ten of them, and then one a second', () => {
  const { reports, during } = reporting()
  for (let i = 0; i < 100; i++) reports.report(new McpError('ERR_STORE', `fault ${i}`))
  expect(lines()).toEqual(Array.from({ length: 10 }, (_, i) => `portico: store: fault ${i}`))
  expect(during(1, 'fault 10')).toEqual([])
  expect(during(1, 'fault 11')).toEqual(['portico: store: fault 11'])
})
