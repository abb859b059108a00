/** When a server that failed is tried again. */

import { expect, test } from 'vitest'
import { FIXED_SUPERVISION_LIMITS } from '../../../src/host/servers/limits.ts'
import { Recovery } from '../../../src/host/servers/recovery.ts'

const limits = { ...FIXED_SUPERVISION_LIMITS, breakerFailures: 3, breakerWindowMs: 60_000, breakerOpenMs: 90_000, stableMs: 1_000_000 }

/** What is said after failures at these times. */
const after = (...times: number[]): string[] => {
  const recovery = new Recovery(limits)
  return times.map((at) => recovery.onFailure(at).state)
}

test('too many failures within the window open the circuit', () => {
  expect(after(0, 30_000, 59_999)).toEqual(['waiting', 'waiting', 'open-circuit'])
})

test('failures further apart than the window never open the circuit', () => {
  expect(after(0, 30_000, 60_000)).toEqual(['waiting', 'waiting', 'waiting'])
  expect(new Set(after(...Array.from({ length: 50 }, (_, at) => at * 30_000)))).toEqual(new Set(['waiting']))
})

test('the window moves: old failures do not count together with new ones', () => {
  expect(after(0, 61_000, 62_000, 63_000)).toEqual(['waiting', 'waiting', 'waiting', 'open-circuit'])
})

test('after the pause one failure opens the circuit again, until a connection was stable', () => {
  const recovery = new Recovery({ ...limits, stableMs: 1_000 })
  for (const at of [0, 1, 2]) recovery.onFailure(at)
  expect(recovery.onFailure(200_000)).toEqual({ state: 'open-circuit', retryAt: 290_000 })
  recovery.onReady(300_000)
  expect(recovery.onFailure(301_000).state).toBe('waiting')
})
