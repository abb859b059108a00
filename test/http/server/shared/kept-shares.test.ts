/** The bytes of events that callers may keep in the store. */

import { expect, test } from 'vitest'
import { systemClock } from '../../../../src/base/clock.ts'
import { FIXED_HTTP_LIMITS } from '../../../../src/http/server/fixed-limits.ts'
import { CallerUsage } from '../../../../src/http/server/limits/caller-usage.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../../src/http/server/options.ts'
import { KeptShares } from '../../../../src/http/server/shared/kept-shares.ts'
import { memoryStore } from '../../../../src/store/index.ts'

test('events beyond the share of their caller, or of all callers, are kept for seconds only', () => {
  let now = 0
  const limits = { ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS, maxKeptBytes: 25_000 }
  const shares = new KeptShares(limits, { ...systemClock, now: () => now })
  const bounds = (address: string) => shares.boundsFor(new CallerUsage('address', address), [{ json: 'x'.repeat(10_000) }])
  const usual = bounds('a')
  expect(usual).toMatchObject({ endedTtlMs: limits.eventTtlMs, maxSessionBytes: limits.maxKeptBytesPerSession })
  expect(bounds('a')).toEqual(usual)
  expect(bounds('a')).toEqual({ ...usual, endedTtlMs: 10_000, maxSessionBytes: 1024 * 1024 })
  expect(bounds('b')).toEqual(usual)
  const kept = Array.from({ length: 40 }, (_, i) => bounds(`more${i}`)).filter(({ endedTtlMs }) => endedTtlMs > 10_000)
  expect(kept).toHaveLength((8 * 25_000) / 10_000 - 3)
  now += limits.eventTtlMs
  expect(bounds('a')).toEqual(usual)
})

test('of a caller over its share, answers that come together wait for a client at another replica', async () => {
  const limits = { ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS, maxKeptBytes: 1 }
  const shares = new KeptShares(limits, systemClock)
  const store = memoryStore()
  const client = store.another()
  await store.sessions.create('s', '{}', { ttlMs: 60_000, maxAgeMs: 60_000 })
  const streams = ['r1', 'r2', 'r3']
  for (const stream of streams) {
    const epoch = (await store.streams.open('s', stream, '{}')) as number
    await client.streams.attach('s', stream, '', 10)
    const events = [{ json: `"answer of ${stream}"` }]
    const bounds = shares.boundsFor(new CallerUsage('address', 'a'), events)
    await store.streams.append('s', stream, { n: 1, epoch, events, isLast: true }, bounds)
  }
  for (const stream of streams)
    expect(await client.streams.read('s', stream, 2, '', 10)).toMatchObject({ events: [{ json: `"answer of ${stream}"` }], isOver: true })
})
