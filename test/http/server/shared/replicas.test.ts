/** Sessions that several replicas serve, with the store in memory and in Redis. */

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { connect } from '../../../../src/index.ts'
import type { Server } from '../../../../src/server/index.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import type { TestHttpOptions } from '../../../support/http-service.ts'
import {
  byHeader,
  callTool,
  gate,
  type HttpSession,
  holdingServer,
  openSession,
  STREAMABLE,
  sessionAt,
  testServer,
  until,
  WATCHED,
  workingServer,
} from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { type Replicas, serveReplicas as serveWith, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

function define(replica: number): Server {
  const server = testServer()
  server.tool('where', {}, () => String(replica))
  server.tool('count', {}, async (_args, ctx) => {
    for (let i = 1; i <= 5; i++) await ctx.progress(i)
    return 'counted'
  })
  server.tool('name', {}, async (_args, ctx) => {
    const { name } = await ctx.elicit('name', 'Your name?', z.object({ name: z.string() }))
    return `Hello ${name} from ${replica}`
  })
  return server
}

/** The same session through another address. */
const at = (url: string, { id, headers }: HttpSession): HttpSession => sessionAt(url, id, headers)

const server = redisOfFile()

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(server)],
]

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  const serveReplicas = async (make: (replica: number) => Server, options: TestHttpOptions = {}): Promise<Replicas> =>
    serveWith(make, { ...options, stores: await storesOf(3) })

  describe.each(STREAMABLE)('a session of %s at any replica', (version) => {
    test('every request may reach any replica', async () => {
      const { url } = await serveReplicas(define)
      const session = await openSession(url, version)
      const seen = new Set<string>()
      for (let id = 1; id <= 40; id++) {
        const { message } = await session.ask({ ...callTool('where'), id })
        seen.add((message as unknown as { result: { content: [{ text: string }] } }).result.content[0].text)
      }
      expect([...seen].sort()).toEqual(['0', '1', '2'])
    })

    test('progress comes on the stream of the call', async () => {
      const { url } = await serveReplicas(define)
      const session = await openSession(url, version)
      const stream = await session.askStream({ ...callTool('count', {}, WATCHED), id: 1 })
      const messages = await stream.messages()
      expect(messages.map(({ method }) => method)).toEqual([...Array(5).fill('notifications/progress'), undefined])
    })
  })

  test('our client asks and answers through a random balancer', async () => {
    const { url } = await serveReplicas(define)
    await using client = await connect(url, {
      revisions: ['2025-11-25'],
      answer: { elicit: async () => ({ action: 'accept', content: { name: 'Ada' } }) },
    })
    for (let i = 0; i < 10; i++) {
      const { content } = await client.call('name', {})
      expect(content[0]).toMatchObject({ text: expect.stringMatching(/^Hello Ada from \d$/) })
    }
  })

  test.each([...STREAMABLE, '2026-07-28'])('a change at one replica reaches clients of %s at all', async (version) => {
    const { url, servers, stores } = await serveReplicas(define)
    let changes = 0
    await using client = await connect(url, { revisions: [version] })
    await client.onChange('tools', () => changes++)
    await until(async () => (await stores[0]?.topics.size('ready')) !== 0 || version === '2026-07-28')
    for (const [i, server] of servers.entries()) {
      server.tool('new', {}, () => 'new')
      await until(() => changes === i + 1)
    }
  })

  test.each(STREAMABLE)('in %s a changed resource is told to its subscribers once, whichever replica it changed at', async (version) => {
    const { url, servers } = await serveReplicas((replica) => {
      const server = define(replica)
      server.resource('note://a/{id}', { name: 'note' }, ({ id }) => id)
      return server
    })
    const told: string[] = []
    await using client = await connect(url, { revisions: [version] })
    await using other = await connect(url, { revisions: [version] })
    await client.onResourceChange('note://a/1', (uri) => told.push(uri))
    await other.onResourceChange('note://a/2', (uri) => told.push(`other ${uri}`))
    for (const server of servers) {
      server.resourceChanged('note://a/1')
      await until(() => told.length > 0)
      expect(told.splice(0)).toEqual(['note://a/1'])
    }
  })

  describe.each(STREAMABLE)('streams of %s', (version) => {
    test('a broken stream is resumed at another replica without gap, repetition or other order', async () => {
      const go = gate()
      const { urls } = await serveReplicas(() => {
        const server = testServer()
        server.tool('count', {}, async (_args, ctx) => {
          for (let i = 1; i <= 3; i++) await ctx.progress(i)
          await go.opened
          for (let i = 4; i <= 6; i++) await ctx.progress(i)
          return 'counted'
        })
        return server
      })
      const [first, second, third] = urls as [string, string, string]
      const session = await openSession(first, version)
      const stream = await session.askStream({ ...callTool('count', {}, WATCHED), id: 1 })
      const seen = [await stream.message(), await stream.message()]
      const { id: lastEventId = '' } = stream.events.filter(({ data }) => data)[1] ?? {}
      stream.destroy()
      const resumed = await at(second, session).listen(lastEventId)
      seen.push(await resumed.message())
      go.open()
      const rest = await resumed.messages()
      expect([...seen, ...rest].map(({ params, result }) => params?.progress ?? result?.content[0].text)).toEqual([
        1,
        2,
        3,
        4,
        5,
        6,
        'counted',
      ])
      // The end stays readable, at every replica.
      const { id: nearlyLast = '' } = resumed.events.filter(({ data }) => data).at(-2) ?? {}
      expect(await (await at(third, session).listen(nearlyLast)).messages()).toMatchObject([{ id: 1, result: {} }])
    })

    test('cursors of other sessions and unknown cursors are refused', async () => {
      const { url } = await serveReplicas(define)
      const [one, other] = [await openSession(url, version), await openSession(url, version)]
      const stream = await one.askStream({ ...callTool('count', {}, WATCHED), id: 1 })
      await stream.messages()
      const { id = '' } = stream.events.at(-1) ?? {}
      expect((await other.listen(id)).status).toBe(400)
      for (const wrong of [id.replace(/\d$/, 'x'), `${id}9`, id.replace(/\.\d+-\d+$/, '.99999999999999-1'), 'x', '...'])
        expect((await one.listen(wrong)).status, wrong).toBe(400)
    })

    test('of two readers of the standing stream the newest gets the messages', async () => {
      const { url, urls, servers } = await serveReplicas(define)
      const session = await openSession(url, version)
      const older = await at(urls[0] as string, session).listen()
      const newer = await at(urls[1] as string, session).listen()
      expect(await older.ended).toBe('end')
      servers[2]?.resourceChanged('x://y')
      servers[2]?.tool('new', {}, () => 'new')
      expect(await newer.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
    })

    test('a request is cancelled from another replica', async () => {
      const { server, begun, aborted } = workingServer()
      const { urls } = await serveReplicas((replica) => (replica === 0 ? server : testServer()))
      const session = await openSession(urls[0] as string, version)
      const stream = await session.askStream({ ...callTool('work', {}, WATCHED), id: 7 })
      await begun.opened
      await at(urls[1] as string, session).post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
      await aborted.opened
      expect(await stream.ended).toBe('end')
    })

    test('a session that one replica ended is gone at all, with its requests', async () => {
      const { server, begun, aborted } = workingServer()
      const { urls } = await serveReplicas((replica) => (replica === 0 ? server : testServer()))
      const session = await openSession(urls[0] as string, version)
      const stream = await session.askStream({ ...callTool('work', {}, WATCHED), id: 7 })
      await begun.opened
      expect((await at(urls[1] as string, session).end()).status).toBe(204)
      await aborted.opened
      await stream.ended
      for (const url of urls) expect((await at(url, session).ask(callTool('hi'))).status).toBe(404)
    })

    test('a second request with the id of a running one is refused at every replica', async () => {
      const { server, begun, go } = holdingServer()
      const { urls } = await serveReplicas((replica) => (replica === 0 ? server : testServer()))
      const session = await openSession(urls[0] as string, version)
      const held = session.ask({ ...callTool('hold'), id: 5 })
      await begun.opened
      expect(await at(urls[1] as string, session).ask({ ...callTool('hi'), id: 5 })).toMatchObject({ status: 400 })
      go.open()
      expect((await held).status).toBe(200)
      // The answer is sent before the store forgets the id.
      await expect.poll(async () => (await at(urls[1] as string, session).ask({ ...callTool('hi'), id: 5 })).status).toBe(200)
    })

    test('sessions of other callers and forged ids look as if they did not exist', async () => {
      const { url } = await serveReplicas(define, { authenticate: byHeader })
      const session = await openSession(url, version, { headers: { 'x-user': 'ada' } })
      expect((await session.ask(callTool('hi'))).status).toBe(200)
      const forged = [`${session.id.slice(0, -1)}${session.id.endsWith('x') ? 'y' : 'x'}`, 'x', session.id.slice(0, 22)].map(
        (id): Record<string, string> => ({ 'mcp-session-id': id }),
      )
      for (const headers of [{ 'x-user': 'eve' }, ...forged]) expect((await session.ask(callTool('hi'), headers)).status).toBe(404)
    })

    test('another caller does not learn which requests of a session run', async () => {
      const { server, begun, go } = holdingServer()
      const { urls } = await serveReplicas((replica) => (replica === 0 ? server : testServer()), { authenticate: byHeader })
      const session = await openSession(urls[0] as string, version, { headers: { 'x-user': 'ada' } })
      const held = session.ask({ ...callTool('hold'), id: 5 })
      await begun.opened
      for (const url of urls) {
        const eve = sessionAt(url, session.id, { ...session.headers, 'x-user': 'eve' })
        for (const id of [5, 6]) expect((await eve.ask({ ...callTool('hi'), id })).status).toBe(404)
      }
      go.open()
      expect((await held).status).toBe(200)
    })
  })
})
