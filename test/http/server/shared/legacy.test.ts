/** The transport of 2024-11-05 at several replicas: each POST may reach any of them. */

import { describe, expect, test } from 'vitest'
import type { Server } from '../../../../src/server/index.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { type EventReader, type HttpAnswer, http, httpStream } from '../../../support/http-requests.ts'
import { byHeader, initializeMessage, type TestHttpOptions, testServer, WATCHED } from '../../../support/http-service.ts'
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
  /** Sends a message to a replica. */
  send(replica: number, body: Message, headers?: Record<string, string>): Promise<HttpAnswer>
}

/** Opens the stream at replica 0, and begins a session through the others. */
async function converse(make: () => Server, options: TestHttpOptions & { stores: SharedStore[] }): Promise<Conversation> {
  const replicas = await serveReplicas(make, options)
  const stream = await httpStream(new URL('sse', replicas.urls[0]).href, {
    method: 'GET',
    isBare: true,
    headers: { ...ADA, accept: 'text/event-stream' },
  })
  const path = String((await stream.next())?.data)
  const send = (replica: number, body: Message, headers = ADA): Promise<HttpAnswer> =>
    http(new URL(path, replicas.urls[replica]).href, { headers, body })
  expect((await send(1, initializeMessage(REVISION, { sampling: {} }))).status).toBe(202)
  expect(await stream.message()).toMatchObject({ id: 0, result: { protocolVersion: REVISION } })
  expect((await send(2, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202)
  return { ...replicas, stream, send }
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
})
