/** The bytes of rounds that callers may keep in the store. */

import { expect, test } from 'vitest'
import { systemClock } from '../../../../src/base/clock.ts'
import { FIXED_HTTP_LIMITS } from '../../../../src/http/server/fixed-limits.ts'
import { CallerUsage } from '../../../../src/http/server/limits/caller-usage.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../../src/http/server/options.ts'
import { CallerValues } from '../../../../src/http/server/shared/caller-values.ts'
import { memoryStore } from '../../../../src/store/index.ts'

const LIFE_MS = 15 * 60_000
const text = 'x'.repeat(10_000)

test('outcomes of rounds are not kept beyond the limit of their caller, and beyond that of all', async () => {
  const { counters } = memoryStore()
  const limits = { ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS, maxRoundBytesPerCaller: 25_000, maxRoundBytes: 35_000 }
  const values = new CallerValues(counters, limits, systemClock)
  const keep = async (address: string, name: string): Promise<boolean> => {
    const own = values.of(new CallerUsage('address', address))
    expect(await own.keep(name, text, LIFE_MS)).toBe(text)
    return (await own.kept(name)) !== undefined
  }
  expect([await keep('a', '1'), await keep('a', '2'), await keep('a', '3')]).toEqual([true, true, false])
  expect([await keep('b', '4'), await keep('b', '5')]).toEqual([true, false])
  // The mark of a run in progress is short and lives for seconds.
  expect(await values.of(new CallerUsage('address', 'a')).keep('runner', 'own', 10_000)).toBe('own')
  expect(await counters.kept('runner')).toBe('own')
})
