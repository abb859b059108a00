/** Rates that replicas share, with tokens that they take in advance. */

import { expect, test } from 'vitest'
import type { Counters } from '../../src/protocol/interfaces/counters.ts'
import { BatchedRates } from '../../src/store/batched-rates.ts'
import { memoryCounters } from '../../src/store/memory/counters.ts'

/** Several replicas with one clock, and the number of questions to the store. */
function replicas(count: number) {
  const clock = { now: 0, asked: 0 }
  const shared = memoryCounters(() => clock.now, 1000)
  const counters: Counters = {
    ...shared,
    take: (...args) => {
      clock.asked++
      return shared.take(...args)
    },
  }
  return { clock, rates: Array.from({ length: count }, () => new BatchedRates(counters, () => clock.now)) }
}

test('replicas together accept at most the rate and what they took in advance', async () => {
  const { clock, rates } = replicas(3)
  const rate = { perSecond: 100, burst: 200 }
  const accepted: number[] = []
  for (; clock.now < 20_000; clock.now += 3) {
    for (const each of rates) if ((await each.take('ada', rate, 1)) === 0) accepted.push(clock.now)
  }
  // In every span of time: the burst, the rate, and a twentieth of the burst for each replica.
  for (const ms of [0, 10, 100, 500, 1000, 3000, 10_000]) {
    let start = 0
    let most = 0
    for (const [end, at] of accepted.entries()) {
      while ((accepted[start] as number) < at - ms) start++
      most = Math.max(most, end - start + 1)
    }
    expect(most, `${ms} ms`).toBeLessThanOrEqual(200 + (ms * 100) / 1000 + 3 * 10 + 1)
  }
  // Nothing is withheld, either.
  expect(accepted.length).toBeGreaterThanOrEqual(200 + 20 * 100 - 3 * 10)
})

test('a fast caller asks the store once for ten requests, a slow one each time', async () => {
  const { clock, rates } = replicas(1)
  const [rate] = rates as [BatchedRates]
  const limit = { perSecond: 100, burst: 200 }
  for (let i = 0; i < 1000; i++, clock.now += 11) expect(await rate.take('fast', limit, 1)).toBe(0)
  expect(clock.asked).toBeLessThan(120)
  clock.asked = 0
  for (let i = 0; i < 10; i++, clock.now += 2000) expect(await rate.take('slow', limit, 1)).toBe(0)
  expect(clock.asked).toBe(10)
})

test('a small burst is exact', async () => {
  const { rates } = replicas(4)
  const limit = { perSecond: 0.001, burst: 19 }
  const waits = await Promise.all(Array.from({ length: 40 }, (_, i) => (rates[i % 4] as BatchedRates).take('ada', limit, 1)))
  expect(waits.filter((wait) => wait === 0).length).toBe(19)
})

test('requests of one turn are one question, and requests after a refusal are none', async () => {
  const { clock, rates } = replicas(1)
  const [rate] = rates as [BatchedRates]
  const limit = { perSecond: 10, burst: 20 }
  const waits = await Promise.all(Array.from({ length: 30 }, () => rate.take('ada', limit, 1)))
  expect(waits.filter((wait) => wait === 0).length).toBe(20)
  expect(clock.asked).toBe(2)
  expect([rate.take('ada', limit, 1), rate.take('ada', limit, 1), clock.asked]).toEqual([100, 100, 2])
  clock.now = 100
  expect(await rate.take('ada', limit, 1)).toBe(0)
})

test('a request for several tokens waits for them, and does not block small ones', async () => {
  const { rates } = replicas(1)
  const [rate] = rates as [BatchedRates]
  const limit = { perSecond: 1, burst: 10 }
  expect(await rate.take('ada', limit, 7)).toBe(0)
  expect(await Promise.all([rate.take('ada', limit, 5), rate.take('ada', limit, 2)])).toEqual([2000, 0])
})
