/** Counters in Redis. */

import { randomId } from '../base/bytes.ts'
import type { Counters } from '../store/counters.ts'
import { type RedisContext, textOf } from './context.ts'
import { keepValue } from './scripts/keep-value.ts'
import { takeToken } from './scripts/take-token.ts'
import { unlock } from './scripts/unlock.ts'

export function redisCounters({ connection, keys, values }: RedisContext): Counters {
  /** Whether this caller was the first to write. A script that is sent again finds its own token. */
  const isFirst = async (key: string, token: string, ttlMs: number): Promise<boolean> =>
    textOf(await connection.run(keepValue, [key], [token, Math.ceil(ttlMs)])) === token
  return {
    take: async (key, { perSecond, burst }) => Number(await connection.run(takeToken, [keys.counter('rate', key)], [perSecond, burst])),
    first: (key, ttlMs) => isFirst(keys.counter('mark', key), randomId(), ttlMs),
    lock: async (key, ttlMs) => {
      const token = randomId()
      return (await isFirst(keys.counter('lock', key), token, ttlMs)) ? token : undefined
    },
    unlock: async (key, token) => (await connection.run(unlock, [keys.counter('lock', key)], [token])) === 1,
    keep: async (key, value, ttlMs) => {
      const name = keys.counter('value', key)
      const sealed = await values.seal(value, name)
      return values.open((await connection.run(keepValue, [name], [sealed, Math.ceil(ttlMs)])) as Buffer, name)
    },
    kept: async (key) => {
      const name = keys.counter('value', key)
      const reply = await connection.command('GET', name)
      return reply === null ? undefined : values.open(reply as Buffer, name)
    },
  }
}
