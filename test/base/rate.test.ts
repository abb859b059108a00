import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Bucket } from '../../src/base/rate.ts'

test('a full bucket gives its burst at once and then says how long to wait', () => {
  const bucket = new Bucket({ perSecond: 2, burst: 3 }, 0)
  expect([bucket.take(0), bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([0, 0, 0, 500])
})

test('a bucket fills at its rate and never beyond its burst', () => {
  const bucket = new Bucket({ perSecond: 2, burst: 2 }, 0)
  bucket.take(0)
  bucket.take(0)
  expect(bucket.take(250)).toBe(250)
  expect(bucket.take(500)).toBe(0)
  expect([bucket.take(60_000), bucket.take(60_000), bucket.take(60_000)]).toEqual([0, 0, 500])
})

test('a refused request takes nothing from the bucket', () => {
  const bucket = new Bucket({ perSecond: 1, burst: 1 }, 0)
  bucket.take(0)
  for (let now = 1; now < 1000; now += 100) expect(bucket.take(now)).toBeGreaterThan(0)
  expect(bucket.take(1000)).toBe(0)
})

test('waiting the announced time is enough, and no caller gets more than burst and rate allow', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 60 }),
      (perSecond, burst, gaps) => {
        const bucket = new Bucket({ perSecond, burst }, 0)
        let [now, taken] = [0, 0]
        for (const gap of gaps) {
          now += gap
          const waitMs = bucket.take(now)
          if (waitMs > 0) {
            now += waitMs
            expect(bucket.take(now)).toBe(0)
          }
          taken++
          expect(taken).toBeLessThanOrEqual(burst + (now * perSecond) / 1000 + 1e-6)
        }
      },
    ),
  )
})
