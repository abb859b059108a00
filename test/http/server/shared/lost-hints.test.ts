/** Messages between replicas are hints: what they are about happens without them, too. */

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { SharedStore, StoreMessage } from '../../../../src/store/index.ts'
import { http } from '../../../support/http-requests.ts'
import {
  callTool,
  gate,
  type HttpSession,
  initializeMessage,
  openSession,
  sessionAt,
  testServer,
  WATCHED,
} from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storeLine } from '../../../support/store-line.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const server = redisOfFile()

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['another process', async (count) => storesInMemory(count).map((store) => storeLine(store).store)],
  ['Redis', storesInRedis(server)],
]

const at = (url: string | undefined, { id, headers }: HttpSession): HttpSession => sessionAt(url as string, id, headers)

/** From now on a store loses messages of some kinds. Returns those that it has lost. */
function loseMessages(store: SharedStore | undefined, ...kinds: StoreMessage['kind'][]): StoreMessage[] {
  const lost: StoreMessage[] = []
  const { replica } = store as SharedStore
  const listen = replica.listen.bind(replica)
  replica.listen = (listener) =>
    listen((message) => {
      if (kinds.includes(message.kind)) lost.push(message)
      else listener(message)
    })
  return lost
}

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  test('a call whose cancellation did not reach its replica is aborted when that looks into the store', async () => {
    const stores = await storesOf(2)
    const lost = loseMessages(stores[0], 'message')
    const aborted = gate()
    const { urls } = await serveReplicas(
      () => {
        const own = testServer()
        own.tool('wait', {}, async (_args, ctx) => {
          await ctx.progress(1)
          await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
          aborted.open()
        })
        return own
      },
      { count: 2, stores },
    )
    const session = await openSession(urls[0] as string, '2025-11-25')
    const stream = await session.askStream({ ...callTool('wait', {}, WATCHED), id: 7 })
    await stream.message()
    await at(urls[1], session).post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
    await aborted.opened
    expect(await stream.messages()).toEqual([])
    expect(JSON.stringify(lost)).toContain('notifications/cancelled')
  })

  test('a call whose session ended elsewhere is aborted although its replica is not told', async () => {
    const stores = await storesOf(2)
    loseMessages(stores[0], 'message')
    const aborted = gate()
    const { urls } = await serveReplicas(
      () => {
        const own = testServer()
        own.tool('wait', {}, async (_args, ctx) => {
          await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
          aborted.open()
        })
        return own
      },
      { count: 2, stores, limits: { sessionIdleMs: 2000 } },
    )
    const session = await openSession(urls[0] as string, '2025-11-25')
    const answer = session.ask({ ...callTool('wait'), id: 7 })
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect((await at(urls[1], session).end()).status).toBe(204)
    await aborted.opened
    await answer
  })

  test('new events and the answer to a question arrive although no replica is told of them', async () => {
    const stores = await storesOf(2)
    const lost = stores.map((store) => loseMessages(store, 'wake', 'answered'))
    const { urls } = await serveReplicas(
      () => {
        const own = testServer()
        own.tool('name', {}, async (_args, ctx) => {
          await ctx.progress(1)
          const { name } = await ctx.elicit('name', 'Your name?', z.object({ name: z.string() }))
          return `Hello ${name}`
        })
        return own
      },
      { count: 2, stores },
    )
    const session = await openSession(urls[0] as string, '2025-11-25', { capabilities: { elicitation: {} } })
    const stream = await session.askStream({ ...callTool('name', {}, WATCHED), id: 1 })
    await stream.message()
    const question = await stream.message()
    stream.destroy()
    // Read at one replica, answered there, and run at the other.
    const resumed = await at(urls[1], session).listen(stream.events.filter(({ data }) => data).at(-1)?.id)
    const answer = { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { name: 'Ada' } } }
    expect((await at(urls[1], session).post(answer)).status).toBe(202)
    expect(await resumed.messages()).toMatchObject([{ id: 1, result: { content: [{ text: 'Hello Ada' }] } }])
    expect(lost.map((messages) => [...new Set(messages.map(({ kind }) => kind))])).toEqual([['answered'], ['wake']])
  })

  test('a call that waits until its client is ready goes on although its replica is not told', async () => {
    const stores = await storesOf(2)
    const lost = loseMessages(stores[0], 'message')
    const { urls } = await serveReplicas(
      () => {
        const own = testServer()
        own.tool('name', {}, async (_args, ctx) => {
          await ctx.progress(1)
          return (await ctx.elicit('name', 'Your name?', z.object({ name: z.string() }))).name
        })
        return own
      },
      { count: 2, stores },
    )
    const begun = await http(urls[0] as string, { body: initializeMessage('2025-11-25', { elicitation: {} }) })
    const id = String(begun.headers['mcp-session-id'])
    const session = sessionAt(urls[0] as string, id, { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' })
    const stream = await session.askStream({ ...callTool('name', {}, WATCHED), id: 1 })
    await stream.message()
    expect((await at(urls[1], session).post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202)
    expect(await stream.message()).toMatchObject({ method: 'elicitation/create' })
    expect(JSON.stringify(lost)).toContain('notifications/initialized')
  })
})
