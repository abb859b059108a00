/** Requests that their clients cancel while the store or a replica fails. */

import { describe, expect, test, vi } from 'vitest'
import { McpError } from '../../../../src/protocol/errors.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { callTool, openSession, sessionAt, testServer, until, WATCHED } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const server = redisOfFile()

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(server)],
]

const cancelOf = (requestId: number) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })

/** Two replicas with a restartable tool that waits until its call is aborted. */
async function waitingReplicas(stores: SharedStore[]) {
  const counts = { begun: 0, aborted: 0 }
  const { urls } = await serveReplicas(
    () => {
      const own = testServer()
      own.tool('wait', { restartable: true }, async (_args, ctx) => {
        counts.begun++
        await ctx.progress(1)
        await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
        counts.aborted++
      })
      return own
    },
    { count: 2, stores },
  )
  const session = await openSession(urls[0] as string, '2025-11-25')
  return { urls: urls as [string, string], session, counts }
}

test('a replica cancels its own requests although the store refuses to note it', async () => {
  const stores = storesInMemory(2)
  for (const { sessions } of stores) {
    sessions.cancel = () => Promise.reject(new McpError('ERR_STORE_DOWN', 'OOM'))
  }
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const { urls, session, counts } = await waitingReplicas(stores)
  const stream = await session.askStream({ ...callTool('wait', {}, WATCHED), id: 1 })
  await stream.message()
  const elsewhere = await sessionAt(urls[1], session.id, session.headers).post(cancelOf(1))
  expect([elsewhere.status, counts.aborted]).toEqual([503, 0])
  expect((await session.post(cancelOf(1))).status).toBe(202)
  await until(() => counts.aborted === 1)
  expect(await stream.messages()).toEqual([])
})

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  test('a cancelled request does not run again if its replica ends before its stream has', async () => {
    const stores = await storesOf(2)
    const [first] = stores as [SharedStore]
    const { append } = first.streams
    let isStuck = false
    first.streams.append = (sid, stream, batch, bounds) => {
      if (!batch.isLast) return append(sid, stream, batch, bounds)
      isStuck = true
      return new Promise(() => {})
    }
    const { urls, session, counts } = await waitingReplicas(stores)
    const stream = await session.askStream({ ...callTool('wait', {}, WATCHED), id: 1 })
    await stream.message()
    expect((await session.post(cancelOf(1))).status).toBe(202)
    await until(() => isStuck && counts.aborted === 1)
    // What others see of a replica that died at this moment.
    first.replica.claimDead = async () => undefined
    await first.replica.leave()
    const resumed = await sessionAt(urls[1], session.id, session.headers).listen(stream.events.filter(({ data }) => data).at(-1)?.id)
    expect(await resumed.messages()).toEqual([])
    expect(counts.begun).toBe(1)
  })
})
