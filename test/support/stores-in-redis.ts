/** Stores in a real Redis, one for each replica of a test. */

import { randomId } from '../../src/base/bytes.ts'
import { redis } from '../../src/redis/index.ts'
import type { SharedStore } from '../../src/store/index.ts'

/** @param server a Redis, as `redisOfFile` starts it. The replicas of each call have a prefix of their own */
export function storesInRedis(server: () => Promise<{ url: string }>, leaseMs = 2000): (count: number) => Promise<SharedStore[]> {
  return async (count) => {
    const { url } = await server()
    const prefix = `${randomId()}:`
    return Array.from({ length: count }, () => redis(url, { prefix, leaseMs }))
  }
}
