/** Takeovers that are in progress while their replica closes. */

import { expect, test } from 'vitest'
import type { SharedStore } from '../../../../src/store/index.ts'
import { callTool, gate, openSession, sessionAt, testServer, until, WATCHED } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const server = redisOfFile()
const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(server, 10_000)],
]
const WORK = { ...callTool('work', {}, WATCHED), id: 7 }

/** Replica 0 ends, and replica 1 closes in the middle of the takeover. Its store may have another endpoint by then. */
async function closeInTakeover(storesOf: (count: number) => Promise<SharedStore[]>, hasSecondEndpoint: boolean) {
  const stores = await storesOf(3)
  const second = stores[1] as SharedStore
  const runs: number[] = []
  const { urls, handlers } = await serveReplicas(
    (at) => {
      const own = testServer()
      own.tool('work', { restartable: true }, async (_args, ctx) => {
        runs.push(at)
        await ctx.progress(1)
        if (at === 2) return 'done'
        return new Promise<string>((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
      })
      return own
    },
    { stores },
  )
  await until(() => stores.every(({ replica }) => replica.isHeld))
  const session = await openSession(urls[0] as string, '2025-11-25')
  const stream = await session.askStream(WORK)
  await stream.message()
  const [entering, go] = [gate(), gate()]
  const { enter } = second.sessions
  second.sessions.enter = async (...args) => {
    if (args[3]) {
      entering.open()
      await go.opened
    }
    return enter(...args)
  }
  const { streams } = stores[2] as SharedStore
  const { takeOver } = streams
  let runsBefore: string | undefined
  streams.takeOver = async (...args) => {
    const taken = await takeOver(...args)
    runsBefore = taken?.journal.runs
    return taken
  }
  // The others do not look.
  const claims = stores.filter((store) => store !== second).map(({ replica }) => [replica, replica.claimDead] as const)
  for (const [replica] of claims) replica.claimDead = async () => undefined
  await handlers[0]?.close()
  await entering.opened
  if (hasSecondEndpoint) await serveReplicas(() => testServer(), { count: 1, stores: [second] })
  const closed = handlers[1]?.close()
  go.open()
  await closed
  const isHeld = second.replica.isHeld
  for (const [replica, claimDead] of claims) replica.claimDead = claimDead.bind(replica)
  const lastEventId = stream.events.filter(({ data }) => data).at(-1)?.id
  const resumed = await sessionAt(urls[2] as string, session.id, session.headers).listen(lastEventId)
  return { runs, isHeld, answer: (await resumed.messages()).at(-1), second, runsBefore }
}

test.each(STORES)('in %s a replica that closes leaves what it is taking over to another one', async (_name, storesOf) => {
  const { runs, isHeld, answer, second, runsBefore } = await closeInTakeover(storesOf, false)
  expect(answer).toMatchObject({ id: 7, result: { content: [{ text: 'done' }] } })
  expect(runs).toEqual([0, 2])
  // Neither the run that was handed over counts, nor the one that did not begin.
  expect(runsBefore).toBe('0')
  expect([isHeld, second.replica.isHeld]).toEqual([false, false])
})

test.each(STORES)('in %s an endpoint that closes ends what it is taking over if another one keeps the lease', async (_name, storesOf) => {
  const { runs, isHeld, answer } = await closeInTakeover(storesOf, true)
  expect(answer).toMatchObject({ id: 7, error: { data: { reason: 'replica_lost' } } })
  expect([runs, isHeld]).toEqual([[0], true])
})
