/** Calls of shared sessions whose clients have disconnected: their caller may have few of them, wherever it read their streams. */

import { describe, expect, test } from 'vitest'
import type { SharedStore } from '../../../../src/store/index.ts'
import { rawHttp } from '../../../support/http-requests.ts'
import { callTool, gate, type HttpSession, openSession, sessionAt, testServer, until, WATCHED } from '../../../support/http-service.ts'
import { rawRequest } from '../../../support/raw-request.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const server = redisOfFile()

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(server, 10_000)],
]

/** Two endpoints of one replica, and one endpoint of another. A call of `wait` answers when `go` is open. */
async function waiting(stores: SharedStore[]) {
  const go = gate()
  const [own, other] = stores as [SharedStore, SharedStore]
  const replicas = await serveReplicas(
    () => {
      const service = testServer()
      service.tool('wait', {}, async (_args, ctx) => {
        await ctx.progress(1)
        await go.opened
        return 'done'
      })
      return service
    },
    { stores: [own, own, other], limits: { maxAbandoned: 1 } },
  )
  const session = await openSession(replicas.urls[0] as string, '2025-11-25')
  const at = (replica: number): HttpSession => sessionAt(replicas.urls[replica] as string, session.id, session.headers)
  const abandoned = (): number[] => replicas.handlers.map(({ counts }) => counts.abandoned)
  return { ...replicas, go, session, at, abandoned }
}

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  test.each([0, 1, 2])('a client that resumes a stream at endpoint %i and leaves it has abandoned its call', async (replica) => {
    const { go, session, at, abandoned, handlers } = await waiting(await storesOf(2))
    const stream = await session.askStream({ ...callTool('wait', {}, WATCHED), id: 7 })
    await stream.message()
    const lastEventId = stream.events.findLast(({ data }) => data)?.id
    const first = await at(replica).listen(lastEventId)
    await stream.ended
    expect(abandoned()).toEqual([0, 0, 0])
    first.destroy()
    await until(() => abandoned()[0] === 1)
    expect((await session.ask(callTool('hi'))).message.error?.data).toMatchObject({ limit: 'maxAbandoned', max: 1 })
    const second = await at(2 - replica).listen(lastEventId)
    await until(() => abandoned()[0] === 0)
    expect((await session.ask(callTool('hi'))).status).toBe(200)
    second.destroy()
    await until(() => abandoned()[0] === 1)
    go.open()
    await until(() => handlers[0]?.counts.inFlight === 0)
    expect(abandoned()).toEqual([0, 0, 0])
  })

  test('a client that leaves the stream of a call that runs again elsewhere has abandoned it there', async () => {
    const runs: number[] = []
    const { urls, handlers } = await serveReplicas(
      (replica) => {
        const service = testServer()
        service.tool('wait', { restartable: true }, async (_args, ctx) => {
          runs.push(replica)
          await ctx.progress(1)
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        })
        return service
      },
      { stores: await storesOf(3), count: 3 },
    )
    const session = await openSession(urls[0] as string, '2025-11-25')
    const stream = await session.askStream({ ...callTool('wait', {}, WATCHED), id: 7 })
    await stream.message()
    const reader = await sessionAt(urls[2] as string, session.id, session.headers).listen(stream.events.findLast(({ data }) => data)?.id)
    await handlers[0]?.close()
    await until(() => runs.length === 2)
    await reader.message()
    reader.destroy()
    await until(() => handlers[runs[1] as number]?.counts.abandoned === 1)
  })

  test('a stream that its client resumed elsewhere in the meantime is not abandoned', async () => {
    const { go, session, at, abandoned } = await waiting(await storesOf(2))
    const stream = await session.askStream({ ...callTool('wait', {}, WATCHED), id: 7 })
    await stream.message()
    const lastEventId = stream.events.findLast(({ data }) => data)?.id
    const readers = [await at(2).listen(lastEventId), await at(0).listen(lastEventId)]
    await readers[0]?.ended
    readers[0]?.destroy()
    go.open()
    expect(await readers[1]?.messages()).toMatchObject([{ id: 7, result: { content: [{ text: 'done' }] } }])
    expect(abandoned()).toEqual([0, 0, 0])
  })

  test('a client that disconnects while the store is asked has abandoned its call', async () => {
    const stores = await storesOf(2)
    const [asked, goOn] = [gate(), gate()]
    const { sessions } = stores[0] as SharedStore
    const { enter } = sessions
    sessions.enter = async (sid, call, ...rest) => {
      if (call === '7') {
        asked.open()
        await goOn.opened
      }
      return enter.call(sessions, sid, call, ...rest)
    }
    const { go, session, abandoned, handlers } = await waiting(stores)
    const body = { jsonrpc: '2.0', id: 7, ...callTool('wait', {}, WATCHED) }
    const client = rawHttp(Number(new URL(session.url).port), rawRequest({ headers: session.headers, body }))
    await asked.opened
    client.destroy()
    await client.closed
    // The endpoint has heard of it when it answers another request.
    await session.ask(callTool('hi'))
    goOn.open()
    await until(() => abandoned()[0] === 1)
    expect((await session.ask(callTool('hi'))).message.error?.data).toMatchObject({ limit: 'maxAbandoned', max: 1 })
    go.open()
    await until(() => handlers[0]?.counts.inFlight === 0)
    expect(abandoned()).toEqual([0, 0, 0])
  })
})
