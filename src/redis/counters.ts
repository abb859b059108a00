/** Counters in Redis. */

import { randomId } from '../base/bytes.ts'
import type { Counters } from '../protocol/interfaces/counters.ts'
import type { RedisContext } from './context.ts'
import { extendLock } from './scripts/extend-lock.ts'
import { holdPlaces } from './scripts/hold-places.ts'
import { keepValue } from './scripts/keep-value.ts'
import { markFirst } from './scripts/mark-first.ts'
import { takeToken } from './scripts/take-token.ts'
import { unlock } from './scripts/unlock.ts'

/** What a value is, for errors. Secrets have names of the source; all other names belong to someone. */
const kindOf = (key: string, name: string): string => (key.startsWith('secret of ') ? `the ${key}` : `a value that replicas share, ${name}`)

export function redisCounters({ connection, keys, values }: RedisContext): Counters {
  const isFirst = async (key: string, token: string, ttlMs: number): Promise<boolean> =>
    (await connection.run(markFirst, [key], [token, Math.ceil(ttlMs)])) === 1
  return {
    take: async (key, { perSecond, burst }, need = 1, most = need) => {
      const tokens = Number(await connection.run(takeToken, [keys.counter('rate', key)], [perSecond, burst, need, most]))
      return tokens < 0 ? { tokens: 0, waitMs: -tokens } : { tokens, waitMs: 0 }
    },
    hold: async (key, holder, count, max, ttlMs) =>
      Number(await connection.run(holdPlaces, [keys.counter('places', key)], [holder, count, max, Math.ceil(ttlMs)])),
    first: (key, ttlMs) => isFirst(keys.counter('mark', key), randomId(), ttlMs),
    lock: async (key, ttlMs) => {
      const token = randomId()
      return (await isFirst(keys.counter('lock', key), token, ttlMs)) ? token : undefined
    },
    extend: async (key, token, ttlMs) => (await connection.run(extendLock, [keys.counter('lock', key)], [token, Math.ceil(ttlMs)])) === 1,
    unlock: async (key, token) => (await connection.run(unlock, [keys.counter('lock', key)], [token])) === 1,
    keep: async (key, value, ttlMs) => {
      const name = keys.counter('value', key)
      const sealed = await values.seal(value, name)
      return values.open((await connection.run(keepValue, [name], [sealed, Math.ceil(ttlMs)])) as Buffer, name, kindOf(key, name))
    },
    kept: async (key) => {
      const name = keys.counter('value', key)
      const reply = await connection.command('GET', name)
      return reply === null ? undefined : values.open(reply as Buffer, name, kindOf(key, name))
    },
    put: async (key, value, ttlMs) => {
      const name = keys.counter('value', key)
      await connection.command('SET', name, await values.seal(value, name), 'PX', Math.ceil(ttlMs))
    },
    forget: async (key) => {
      await connection.command('DEL', keys.counter('value', key))
    },
  }
}
