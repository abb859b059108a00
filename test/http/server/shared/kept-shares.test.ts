/** The bytes of events that callers may keep in the store. */

import { expect, test } from 'vitest'
import { systemClock } from '../../../../src/base/clock.ts'
import { FIXED_HTTP_LIMITS } from '../../../../src/http/server/fixed-limits.ts'
import { CallerUsage } from '../../../../src/http/server/limits/caller-usage.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../../src/http/server/options.ts'
import { KeptShares } from '../../../../src/http/server/shared/kept-shares.ts'

test('events beyond the share of their caller, or of all callers, are kept for seconds only', () => {
  let now = 0
  const limits = { ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS, maxKeptBytes: 25_000 }
  const shares = new KeptShares(limits, { ...systemClock, now: () => now })
  const bounds = (address: string) => shares.boundsFor(new CallerUsage('address', address), [{ json: 'x'.repeat(10_000) }])
  const usual = bounds('a')
  expect(usual).toMatchObject({ endedTtlMs: limits.eventTtlMs, maxSessionBytes: limits.maxKeptBytesPerSession })
  expect(bounds('a')).toEqual(usual)
  expect(bounds('a')).toEqual({ ...usual, endedTtlMs: 10_000, maxEnded: 1, maxSessionBytes: 1024 * 1024 })
  expect(bounds('b')).toEqual(usual)
  const kept = Array.from({ length: 40 }, (_, i) => bounds(`more${i}`)).filter(({ maxEnded }) => maxEnded > 1)
  expect(kept).toHaveLength((8 * 25_000) / 10_000 - 3)
  now += limits.eventTtlMs
  expect(bounds('a')).toEqual(usual)
})
