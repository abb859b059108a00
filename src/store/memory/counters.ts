/** Counters in memory. */

import { randomId } from '../../base/bytes.ts'
import { Bucket, type Rate } from '../../base/rate.ts'
import type { Counters } from '../counters.ts'
import { ExpiringMap } from './expiring-map.ts'

export function memoryCounters(now: () => number, max: number): Counters {
  const buckets = new ExpiringMap<Bucket>(now, max, 'rates')
  const marks = new ExpiringMap<true>(now, max, 'marks')
  const locks = new ExpiringMap<string>(now, max, 'locks')
  const values = new ExpiringMap<string>(now, max, 'values')
  return {
    take: async (key, rate) => {
      const bucket = buckets.get(key) ?? new Bucket(rate, now())
      // A bucket that nothing was taken from for this long is full, like a new one.
      buckets.set(key, bucket, fillMs(rate))
      return bucket.take(now())
    },
    first: async (key, ttlMs) => {
      if (marks.get(key)) return false
      marks.set(key, true, ttlMs)
      return true
    },
    lock: async (key, ttlMs) => {
      if (locks.get(key) !== undefined) return undefined
      const token = randomId()
      locks.set(key, token, ttlMs)
      return token
    },
    unlock: async (key, token) => locks.get(key) === token && locks.delete(key),
    keep: async (key, value, ttlMs) => {
      const before = values.get(key)
      values.set(key, before ?? value, ttlMs)
      return before ?? value
    },
    kept: async (key) => values.get(key),
  }
}

const fillMs = ({ perSecond, burst }: Rate): number => Math.ceil((burst * 1000) / perSecond) + 1
