/** The transport of 2024-11-05 at several replicas: each POST may reach any of them. */

import { describe, expect, test, vi } from 'vitest'
import { randomId } from '../../../../src/base/bytes.ts'
import type { Counters } from '../../../../src/protocol/interfaces/counters.ts'
import type { Server } from '../../../../src/server/index.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import type { Replica } from '../../../../src/store/replica.ts'
import { type EventReader, type HttpAnswer, http, httpStream } from '../../../support/http-requests.ts'
import {
  byHeader,
  callTool,
  gate,
  initializeMessage,
  openSession,
  type TestHttpOptions,
  testServer,
  until,
  WATCHED,
} from '../../../support/http-service.ts'
import type { Message } from '../../../support/raw-channel.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { type Replicas, serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const redisServer = redisOfFile()

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(redisServer)],
]

const REVISION = '2024-11-05'
const ADA = { 'x-user': 'ada' }

interface Conversation extends Replicas {
  stream: EventReader
  id: string
  /** Sends a message to a replica. */
  send(replica: number, body: Message, headers?: Record<string, string>): Promise<HttpAnswer>
}

const openStream = (url: string | undefined): Promise<EventReader> =>
  httpStream(new URL('sse', url).href, { method: 'GET', isBare: true, headers: { ...ADA, accept: 'text/event-stream' } })

/** Opens the stream at replica 0, and begins a session through the others. */
async function converse(make: () => Server, options: TestHttpOptions & { stores: SharedStore[] }): Promise<Conversation> {
  const replicas = await serveReplicas(make, options)
  const stream = await openStream(replicas.urls[0])
  const path = String((await stream.next())?.data)
  const send = (replica: number, body: Message, headers = ADA): Promise<HttpAnswer> =>
    http(new URL(path, replicas.urls[replica]).href, { headers, body })
  expect((await send(1, initializeMessage(REVISION, { sampling: {} }))).status).toBe(202)
  expect(await stream.message()).toMatchObject({ id: 0, result: { protocolVersion: REVISION } })
  expect((await send(2, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202)
  return { ...replicas, stream, id: path.replace(/.*=/, ''), send }
}

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  test('calls and answers to questions reach the replica that has the stream', async () => {
    const { stream, send, servers } = await converse(
      () => {
        const server = testServer()
        server.tool('ask', {}, async (_args, ctx) => {
          await ctx.progress(1)
          return (await ctx.sample('s', { messages: [{ role: 'user', content: { type: 'text', text: '?' } }], maxTokens: 1 })).model
        })
        return server
      },
      { stores: await storesOf(3) },
    )
    for (const [id, replica] of [1, 2].entries()) {
      expect((await send(replica, { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'ask', ...WATCHED } })).status).toBe(202)
      expect((await stream.message()).method).toBe('notifications/progress')
      const question = await stream.message()
      const result = { role: 'assistant', content: { type: 'text', text: '!' }, model: `m${id}` }
      expect((await send(3 - replica, { jsonrpc: '2.0', id: question.id, result })).status).toBe(202)
      expect(await stream.message()).toMatchObject({ id, result: { content: [{ text: `m${id}` }] } })
    }
    // A change at another replica.
    servers[2]?.tool('new', {}, () => 'new')
    expect((await stream.message()).method).toBe('notifications/tools/list_changed')
  })

  test('the requests of a caller in progress are limited for all replicas together', async () => {
    const [begun, go] = [vi.fn(), gate()]
    const make = (): Server => {
      const server = testServer()
      server.tool('hold', {}, async () => {
        begun()
        await go.opened
        return 'held'
      })
      return server
    }
    const limits = { maxInFlightPerPrincipal: 2 }
    const { send, stream, urls, handlers } = await converse(make, { stores: await storesOf(3), authenticate: byHeader, limits })
    const other = await openSession(urls[1] as string, '2025-11-25', { headers: ADA })
    const hold = { jsonrpc: '2.0', ...callTool('hold') }
    // One is passed on.
    expect((await send(2, { ...hold, id: 1 })).status).toBe(202)
    const held = other.ask({ ...callTool('hold'), id: 1 })
    await until(() => begun.mock.calls.length === 2)
    for (const replica of [0, 1]) {
      const refused = await send(replica, { ...hold, id: 2 })
      expect(refused).toMatchObject({ status: 429, message: { id: 2, error: { data: { limit: 'maxInFlightPerPrincipal', max: 2 } } } })
    }
    go.open()
    expect(await stream.message()).toMatchObject({ id: 1, result: { content: [{ text: 'held' }] } })
    await held
    await until(async () => (await send(1, { ...hold, id: 3 })).status === 202)
    expect(await stream.message()).toMatchObject({ id: 3, result: { content: [{ text: 'held' }] } })
    expect(handlers.map(({ counts }) => [counts.inFlight, counts.bodyBytes])).toEqual([1, 2, 3].map(() => [0, 0]))
  })

  test.each(['maxSessionsPerPrincipal', 'maxSessionsPerAddress'] as const)('%s holds for all replicas together', async (limit) => {
    const auth = limit === 'maxSessionsPerPrincipal' && { authenticate: byHeader }
    const { urls, handlers } = await serveReplicas(() => testServer(), { stores: await storesOf(3), limits: { [limit]: 2 }, ...auth })
    const streams = await Promise.all(urls.map(openStream))
    expect(streams.map(({ status }) => status).sort()).toEqual([200, 200, 429])
    expect(handlers.reduce((sum, { counts }) => sum + counts.legacySessions, 0)).toBe(2)
    streams.find(({ status }) => status === 200)?.destroy()
    await until(async () => (await openStream(urls[0])).status === 200)
  })

  test('sessions that are gone, forged or of another caller do not exist at any replica', async () => {
    const { stream, send, urls, stores } = await converse(testServer, { stores: await storesOf(3), authenticate: byHeader })
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    for (const replica of [0, 1, 2]) expect((await send(replica, ping, { 'x-user': 'eve' })).status).toBe(404)
    for (const id of ['x', `x.${stores[0]?.replica.id}`, 'x.y'])
      expect((await http(new URL(`messages?sessionId=${id}`, urls[1]).href, { headers: ADA, body: ping })).status).toBe(404)
    expect((await send(1, ping)).status).toBe(202)
    expect(await stream.message()).toMatchObject({ id: 1, result: {} })
    await stores[0]?.replica.leave()
    expect((await send(1, ping)).status).toBe(404)
  })

  test('a forged or foreign id sends nothing to another replica', async () => {
    const { id, send, urls, stores } = await converse(testServer, { stores: await storesOf(3), authenticate: byHeader })
    const sent = vi.spyOn(stores[1]?.replica as Replica, 'send')
    const passedOn = (): number => sent.mock.calls.filter(([, json]) => JSON.parse(json).kind === 'legacy').length
    const [random, owner, code] = id.split('.') as [string, string, string]
    const { id: ofSession } = await openSession(urls[1] as string, '2025-11-25', { headers: ADA })
    const ids = [
      `${randomId()}.${owner}.${code}`,
      `${random}.${stores[2]?.replica.id}.${code}`,
      `${random}.nobody.${code}`,
      `${random}.${owner}.${randomId().slice(0, 16)}`,
      `${random}.${owner}`,
      // Good, and of the other transport.
      ofSession,
    ]
    const post = (of: string, user: string): Promise<HttpAnswer> =>
      http(new URL(`messages?sessionId=${of}`, urls[1]).href, { headers: { 'x-user': user }, body: { jsonrpc: '2.0', method: 'n/x' } })
    for (const each of ids) expect((await post(each, 'ada')).status, each).toBe(404)
    // Good, and of another caller.
    expect((await post(id, 'eve')).status).toBe(404)
    expect(passedOn()).toBe(0)
    expect((await send(1, { jsonrpc: '2.0', method: 'n/x' })).status).toBe(202)
    expect(passedOn()).toBe(1)
  })
})

test('the id of a stream is no session of the other transport', async () => {
  const { id, urls } = await converse(testServer, { stores: storesInMemory(3) })
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25', accept: 'application/json, text/event-stream' }
  expect((await http(urls[1] as string, { headers, body: { jsonrpc: '2.0', id: 1, ...callTool('hi') } })).status).toBe(404)
})

test('a message that waits for another replica counts with its memory', async () => {
  const limits = { maxBodyBytesInHandPerAddress: 300_000 }
  const { send, stores, handlers } = await converse(testServer, { stores: storesInMemory(3), limits })
  const [replica, go] = [stores[1]?.replica as Replica, gate()]
  const forward = replica.send.bind(replica)
  vi.spyOn(replica, 'send').mockImplementation(async (to, json) => {
    await go.opened
    return forward(to, json)
  })
  const message = { jsonrpc: '2.0', method: 'n/x', params: { text: 'x'.repeat(200_000) } }
  const first = send(1, message)
  await until(() => vi.mocked(replica.send).mock.calls.length === 1)
  expect(handlers[1]?.counts.bodyBytes).toBeGreaterThan(200_000)
  const second = await send(1, message)
  expect([second.status, second.message.error?.data?.limit]).toEqual([429, 'maxBodyBytesInHandPerAddress'])
  go.open()
  expect((await first).status).toBe(202)
  expect(handlers[1]?.counts.bodyBytes).toBe(0)
  expect((await send(1, message)).status).toBe(202)
})

test.each([
  ['an unknown status', { status: 99_999, message: 'x' }, 503],
  ['no object', 7, 503],
  ['a header that HTTP cannot carry', { status: 404, message: 'x', headers: { 'x y': '' } }, 500],
])('a refusal of another replica with %s gets an error, and the process goes on', async (_title, refusal, status) => {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { send, stores } = await converse(testServer, { stores: storesInMemory(3) })
  const [first, second] = stores.map(({ replica }) => replica) as [Replica, Replica]
  vi.spyOn(second, 'send').mockImplementationOnce(async (_to, json) =>
    first.send(second.id, JSON.stringify({ kind: 'legacy answer', n: JSON.parse(json).n, refusal })),
  )
  expect((await send(1, { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(status)
  expect((await send(1, { jsonrpc: '2.0', id: 2, method: 'ping' })).status).toBe(202)
  errors.mockRestore()
})

test.each<[string, (replicas: Replicas) => unknown]>([
  ['its replica has left', ({ stores }) => stores[0]?.replica.leave()],
  ['its server ends', ({ handlers }) => handlers[0]?.drain(0)],
])('a stream whose id waits for the store is not opened after %s', async (_title, end) => {
  const stores = storesInMemory(1)
  const counters = stores[0]?.counters as Counters
  const [keep, go] = [counters.keep.bind(counters), gate()]
  const kept = vi.spyOn(counters, 'keep').mockImplementation(async (...args) => {
    await go.opened
    return keep(...args)
  })
  const replicas = await serveReplicas(() => testServer(), { stores, count: 1 })
  const opening = openStream(replicas.urls[0])
  await until(() => kept.mock.calls.length > 0)
  await end(replicas)
  go.open()
  expect((await opening).status).toBe(503)
  expect(replicas.handlers[0]?.counts).toMatchObject({ streams: 0, legacySessions: 0 })
})
