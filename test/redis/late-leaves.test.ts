/** Requests that ended while Redis could not be reached: one that cannot be removed must not keep the others. */

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { randomId } from '../../src/base/bytes.ts'
import { McpError } from '../../src/protocol/errors.ts'
import { redis } from '../../src/redis/index.ts'
import { LateLeaves } from '../../src/redis/late-leaves.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const server = redisOfFile()
const DOWN = new McpError('ERR_STORE_DOWN', 'Redis does not answer')
const DAMAGED = new McpError('ERR_STORE', 'Redis refused a command: WRONGTYPE')

/** Fails for session `a` always, and for the others once. Returns the sessions that were tried. */
async function leaveAll(fault: McpError): Promise<string[]> {
  const tried: string[] = []
  const late = new LateLeaves(async ({ sid }) => {
    const isFirst = !tried.includes(sid)
    tried.push(sid)
    if (sid === 'a') throw fault
    if (isFirst) throw DOWN
  })
  for (const sid of ['a', 'b']) {
    const registration = { sid, field: '1', replica: 'r', attempt: '' }
    await expect(late.leave(registration)).rejects.toThrow(sid === 'a' ? fault : DOWN)
  }
  await until(() => tried.filter((sid) => sid === 'b').length === 2)
  return tried
}

test('a request with a damaged key is not tried again, and others are', async () => {
  expect((await leaveAll(DAMAGED)).filter((sid) => sid === 'a')).toHaveLength(1)
})

test('a request that Redis refuses again and again does not keep others from being removed', async () => {
  expect((await leaveAll(DOWN)).filter((sid) => sid === 'a').length).toBeGreaterThan(1)
})

test('a late end of a request that was taken over does not remove its next registration', async () => {
  const { url, cli } = await server()
  const options = { prefix: `${randomId()}:`, timeoutMs: 300, leaseMs: 10_000 }
  const [ended, store] = [redis(url, options), redis(url, options)]
  await store.sessions.create('s', '{}', { ttlMs: 60_000, maxAgeMs: 60_000 })
  await ended.sessions.enter('s', '7', 8)
  await ended.replica.leave()
  await store.sessions.enter('s', '7', 8, true)
  await cli('CLIENT', 'PAUSE', '350', 'WRITE')
  await expect(store.sessions.leave('s', '7')).rejects.toThrow('Redis')
  await until(() =>
    store.sessions.enter('s', '7', 8, true).then(
      () => true,
      () => false,
    ),
  )
  // The late end is tried half a second after it failed.
  await sleep(1200)
  expect(await store.sessions.cancel('s', '7')).toBe(store.replica.id)
  await Promise.all([ended.close(), store.close()])
})
