/** Counters in memory. */

import { randomId } from '../../base/bytes.ts'
import { Bucket, type Rate } from '../../base/rate.ts'
import type { Counters } from '../../protocol/interfaces/counters.ts'
import { ExpiringMap } from './expiring-map.ts'

interface Holding {
  count: number
  until: number
}

export function memoryCounters(now: () => number, max: number): Counters {
  const buckets = new ExpiringMap<Bucket>(now, max, 'rates')
  const places = new ExpiringMap<Map<string, Holding>>(now, max, 'places')
  const marks = new ExpiringMap<true>(now, max, 'marks')
  const locks = new ExpiringMap<string>(now, max, 'locks')
  const values = new ExpiringMap<string>(now, max, 'values')
  return {
    take: async (key, rate, need = 1, most = need) => {
      const bucket = buckets.get(key) ?? new Bucket(rate, now())
      // A bucket that nothing was taken from for this long is full, like a new one.
      buckets.set(key, bucket, fillMs(rate))
      const waitMs = bucket.take(now(), need)
      return waitMs > 0 ? { tokens: 0, waitMs } : { tokens: need + bucket.takeUpTo(now(), most - need), waitMs: 0 }
    },
    hold: async (key, holder, count, most, ttlMs) => {
      const at = now()
      const holdings = places.get(key) ?? new Map<string, Holding>()
      let others = 0
      let own = 0
      let end = at + ttlMs
      for (const [name, holding] of holdings) {
        if (holding.until <= at) holdings.delete(name)
        else if (name === holder) own = holding.count
        else {
          others += holding.count
          end = Math.max(end, holding.until)
        }
      }
      const granted = Math.min(count, Math.max(own, most - others))
      if (granted > 0) holdings.set(holder, { count: granted, until: at + ttlMs })
      else holdings.delete(holder)
      if (holdings.size === 0) places.delete(key)
      else places.set(key, holdings, end - at)
      return granted
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
    extend: async (key, token, ttlMs) => {
      if (locks.get(key) !== token) return false
      locks.renew(key, ttlMs)
      return true
    },
    unlock: async (key, token) => locks.get(key) === token && locks.delete(key),
    keep: async (key, value, ttlMs) => {
      const before = values.get(key)
      values.set(key, before ?? value, ttlMs)
      return before ?? value
    },
    kept: async (key) => values.get(key),
    put: async (key, value, ttlMs) => values.set(key, value, ttlMs),
    forget: async (key) => {
      values.delete(key)
    },
  }
}

const fillMs = ({ perSecond, burst }: Rate): number => Math.ceil((burst * 1000) / perSecond) + 1
