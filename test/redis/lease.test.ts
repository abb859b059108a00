/** The lease of a replica, while the system time is moved. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Lease } from '../../src/redis/lease.ts'

const HOUR_MS = 3_600_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Moves the system time, as a person or a time server does. */
const moveTime = (ms: number): unknown => vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms)

function leaseOf(ms: number, renew: () => Promise<boolean>) {
  const lost: string[] = []
  const lease = new Lease(ms, performance.now(), { renew, onLost: (reason) => lost.push(reason) })
  return { lease, lost }
}

test.each([HOUR_MS, -HOUR_MS])('a lease that is renewed stays when the system time moves by %i ms', async (moved) => {
  const { lease, lost } = leaseOf(1000, async () => true)
  moveTime(moved)
  await vi.advanceTimersByTimeAsync(10_000)
  expect([lease.isHeld, lost]).toEqual([true, []])
  lease.end()
})

test.each([0, HOUR_MS, -HOUR_MS])(
  'a lease that cannot be renewed is given up before it ends, with a time moved by %i ms',
  async (moved) => {
    const { lease, lost } = leaseOf(1000, () => Promise.reject(new Error('Redis is gone')))
    moveTime(moved)
    await vi.advanceTimersByTimeAsync(800)
    expect([lease.isHeld, lost]).toEqual([true, []])
    await vi.advanceTimersByTimeAsync(50)
    expect([lease.isHeld, lost]).toEqual([false, ['the lease could not be renewed for 850 ms: Redis is gone']])
  },
)

test('a renewal counts from when it was sent, because Redis may have got it at once', async () => {
  let renew: (isRenewed: boolean) => void = () => {}
  const { lease, lost } = leaseOf(1000, () => new Promise((resolve) => (renew = resolve)))
  await vi.advanceTimersByTimeAsync(800)
  // Sent after 300 ms.
  renew(true)
  await vi.advanceTimersByTimeAsync(300)
  expect(lost).toEqual([])
  await vi.advanceTimersByTimeAsync(100)
  expect([lease.isHeld, lost]).toEqual([false, ['the lease could not be renewed for 850 ms']])
})

test('a process that was stopped for longer than its lease does not hold it when it goes on', () => {
  const { lease } = leaseOf(1000, async () => true)
  moveTime(-HOUR_MS)
  // The clock went on, and no timer ran.
  const stopped = performance.now() + 1000
  vi.spyOn(performance, 'now').mockReturnValue(stopped)
  expect(lease.isHeld).toBe(false)
  lease.end()
})
