/** Two endpoints of one process that use one store: to the store they are one replica. */

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Change } from '../../../../src/protocol/interfaces/replaceable-services.ts'
import type { Server } from '../../../../src/server/index.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { storeBus } from '../../../../src/store/store-bus.ts'
import { type EventReader, type HttpAnswer, http, httpStream } from '../../../support/http-requests.ts'
import {
  callTool,
  gate,
  type HttpSession,
  initializeMessage,
  modern,
  openSession,
  sessionAt,
  testServer,
  until,
  WATCHED,
} from '../../../support/http-service.ts'
import type { Message } from '../../../support/raw-channel.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { type Replicas, serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const server = redisOfFile()
const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(server, 10_000)],
]
const WORK = { ...callTool('work', {}, WATCHED), id: 7 }
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }

/** A session of 2024-11-05 whose stream is at one address. `post` sends a message to any other. */
async function legacyAt(
  url: string | undefined,
): Promise<{ stream: EventReader; post(at: string | undefined, body: Message): Promise<HttpAnswer> }> {
  const stream = await httpStream(new URL('sse', url).href, { method: 'GET', isBare: true, headers: { accept: 'text/event-stream' } })
  const path = String((await stream.next())?.data)
  return { stream, post: (at, body) => http(new URL(path, at).href, { body }) }
}

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  /** Two endpoints of one replica, and one endpoint of another replica. */
  async function served(restartable: boolean): Promise<Replicas & { store: SharedStore; other: SharedStore; finish: () => void }> {
    const [store, other] = (await storesOf(2)) as [SharedStore, SharedStore]
    const go = gate()
    const replicas = await serveReplicas(
      (at) => {
        const own = testServer()
        own.tool('work', { restartable }, async (_args, ctx) => {
          await ctx.progress(1)
          await Promise.race([go.opened, new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))])
          return `done at ${at}`
        })
        return own
      },
      { stores: [store, store, other] },
    )
    await until(() => store.replica.isHeld && other.replica.isHeld)
    return { ...replicas, store, other, finish: go.open }
  }

  test('the requests of one go on when the other closes, and the last one gives the lease up', async () => {
    const { urls, handlers, store, finish } = await served(false)
    const session = await openSession(urls[0] as string, '2025-11-25')
    const stream = await session.askStream(WORK)
    await stream.message()
    const { id } = store.replica
    await handlers[1]?.close()
    finish()
    expect(await stream.messages()).toMatchObject([{ id: 7, result: { content: [{ text: 'done at 0' }] } }])
    expect([store.replica.isHeld, store.replica.id]).toEqual([true, id])
    await handlers[0]?.close()
    expect(store.replica.isHeld).toBe(false)
  })

  test('a restartable call of the one that closes gets an error, because no replica finds it', async () => {
    const { urls, handlers, store } = await served(true)
    const session = await openSession(urls[0] as string, '2025-11-25')
    const stream = await session.askStream(WORK)
    await stream.message()
    await handlers[0]?.close()
    expect(await stream.messages()).toMatchObject([{ id: 7, error: { data: { reason: 'replica_lost', retryable: true } } }])
    expect(await stream.ended).toBe('end')
    expect(store.replica.isHeld).toBe(true)
  })

  test('a restartable call goes on at another replica when both close', async () => {
    const { urls, handlers, finish } = await served(true)
    const session = await openSession(urls[0] as string, '2025-11-25')
    const stream = await session.askStream(WORK)
    await stream.message()
    const closing = handlers.slice(0, 2)
    await Promise.all(closing.map((handler) => handler.drain(0)))
    for (const handler of closing) await handler.close()
    finish()
    const lastEventId = stream.events.filter(({ data }) => data).at(-1)?.id
    const resumed = await sessionAt(urls[2] as string, session.id, session.headers).listen(lastEventId)
    expect((await resumed.messages()).at(-1)).toMatchObject({ id: 7, result: { content: [{ text: 'done at 2' }] } })
  })

  test('what a client says at one endpoint reaches its calls at the other, without a look into the store', async () => {
    const [store] = (await storesOf(1)) as [SharedStore]
    Object.defineProperty(store.replica, 'leaseMs', { value: 600_000 })
    const aborted: string[] = []
    const { urls } = await serveReplicas(
      () => {
        const own = testServer()
        own.tool('work', {}, async (_args, ctx) => {
          await ctx.progress(1)
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
          aborted.push(String(ctx.signal.reason))
        })
        own.tool('ask', {}, async (_args, ctx) => {
          await ctx.progress(1)
          return (await ctx.elicit('name', 'Your name?', z.object({ name: z.string() }))).name
        })
        return own
      },
      { count: 2, stores: [store, store] },
    )
    const begun = await http(urls[0] as string, { body: initializeMessage('2025-11-25', { elicitation: {} }) })
    const headers = { 'mcp-session-id': String(begun.headers['mcp-session-id']), 'mcp-protocol-version': '2025-11-25' }
    const [here, other] = urls.map((url) => sessionAt(url, headers['mcp-session-id'], headers)) as [HttpSession, HttpSession]
    const asking = await here.askStream({ ...callTool('ask', {}, WATCHED), id: 1 })
    await asking.message()
    await other.post({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect(await asking.message()).toMatchObject({ method: 'elicitation/create' })
    const working = [2, 3].map((id) => here.askStream({ ...callTool('work', {}, WATCHED), id }))
    const streams = await Promise.all(working)
    for (const stream of streams) await stream.message()
    await other.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2, reason: 'enough' } })
    await until(() => aborted.length === 1)
    expect((await other.end()).status).toBe(204)
    await until(() => aborted.length === 2)
    expect(aborted).toEqual([expect.stringContaining('enough'), expect.stringContaining('The client ended the session')])
    for (const stream of [asking, ...streams]) await stream.ended
  })

  test('a POST of 2024-11-05 reaches the endpoint that has its stream, wherever it arrives', async () => {
    const { urls, handlers } = await served(false)
    for (const [at, url] of urls.entries()) {
      const { stream, post } = await legacyAt(url)
      expect((await post(url, initializeMessage('2024-11-05'))).status).toBe(202)
      expect(await stream.message()).toMatchObject({ id: 0 })
      for (const [id, other] of urls.entries()) {
        expect([at, id, (await post(other, { ...PING, id })).status]).toEqual([at, id, 202])
        expect(await stream.message()).toEqual({ jsonrpc: '2.0', id, result: {} })
      }
      stream.destroy()
      await until(() => handlers[at]?.counts.legacySessions === 0)
      for (const other of urls) expect((await post(other, PING)).status).toBe(404)
    }
    expect(handlers.map(({ counts }) => counts.bodyBytes)).toEqual([0, 0, 0])
  })

  test('POSTs that two endpoints pass on at once get their own answers', async () => {
    const { urls, handlers, store } = await served(false)
    const [good, gone] = await Promise.all([legacyAt(urls[2]), legacyAt(urls[2])])
    gone.stream.destroy()
    await until(() => handlers[2]?.counts.legacySessions === 1)
    const { send } = store.replica
    const both = gate()
    let passed = 0
    store.replica.send = async (...args) => {
      if (++passed === 2) both.open()
      await both.opened
      return send.apply(store.replica, args)
    }
    const answers = await Promise.all([good.post(urls[0], PING), gone.post(urls[1], PING)])
    expect(answers.map(({ status }) => status)).toEqual([202, 404])
  })

  test.each(['two servers', 'one server'])('a change reaches each client that listens once, at two endpoints of %s', async (kind) => {
    const [store] = (await storesOf(1)) as [SharedStore]
    const define = (): Server => {
      const own = testServer()
      own.resource('note://{id}', { name: 'note' }, ({ id }) => id)
      return own
    }
    const only = define()
    const { urls } = await serveReplicas((at) => (kind === 'one server' || at === 0 ? only : define()), {
      count: 2,
      stores: [store, store],
    })
    await until(() => store.replica.isHeld)
    const params = { notifications: { resourceSubscriptions: [1, 2, 3].map((id) => `note://${id}`) } }
    const streams = await Promise.all(urls.map((url) => httpStream(url, modern({ method: 'subscriptions/listen', params }))))
    for (const stream of streams) await stream.message()
    const heard = ({ text }: EventReader, id: number): number => text.split(`"uri":"note://${id}","_meta"`).length - 1
    // A replica that has just joined may have missed changes, so the first one may come twice.
    for (const id of [1, 2, 3]) {
      only.resourceChanged(`note://${id}`)
      await until(() => streams.every((stream) => heard(stream, id) > 0))
    }
    expect(streams.map((stream) => heard(stream, 2))).toEqual([1, 1])
  })

  test('a bus of the store hears of changes again after the last endpoint has closed', async () => {
    const { handlers, store, other } = await served(false)
    const heard: Change[] = []
    let missed = 0
    const stop = storeBus(store.replica).subscribe(
      (change) => heard.push(change),
      () => missed++,
    )
    for (const handler of handlers.slice(0, 2)) await handler.close()
    await until(() => missed > 0 && store.replica.isHeld)
    storeBus(other.replica).publish({ kind: 'tools' })
    await until(() => heard.length > 0)
    expect(heard).toEqual([{ kind: 'tools' }])
    stop()
  })
})

test('a change at another replica reaches clients at two endpoints of one server once', async () => {
  const [store, other] = storesInMemory(2) as [SharedStore, SharedStore]
  const define = (): Server => {
    const own = testServer()
    own.resource('note://{id}', { name: 'note' }, ({ id }) => id)
    return own
  }
  const [near, far] = [define(), define()]
  const { urls } = await serveReplicas((at) => (at < 2 ? near : far), { stores: [store, store, other] })
  await until(() => store.replica.isHeld && other.replica.isHeld)
  const params = { notifications: { resourceSubscriptions: [1, 2].map((id) => `note://${id}`) } }
  const streams = await Promise.all(urls.slice(0, 2).map((url) => httpStream(url, modern({ method: 'subscriptions/listen', params }))))
  for (const stream of streams) await stream.message()
  far.resourceChanged('note://1')
  // Any second notice of the first change would come before this one.
  far.resourceChanged('note://2')
  for (const stream of streams)
    expect([(await stream.message()).params.uri, (await stream.message()).params.uri]).toEqual(['note://1', 'note://2'])
})
