/** What a client of a shared session is told outside of its requests, when it happens at another replica. */

import { describe, expect, test } from 'vitest'
import { serverExtension } from '../../../../src/extensions/index.ts'
import type { AuthenticatedCaller } from '../../../../src/http/index.ts'
import { pageRequired, type Server } from '../../../../src/server/index.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { callTool, gate, type HttpSession, openSession, sessionAt, testServer, until } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const redisServer = redisOfFile()

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(redisServer)],
]

const at = (url: string | undefined, { id, headers }: HttpSession): HttpSession => sessionAt(url as string, id, headers)

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  test('any replica may hear that a person has finished with a page, and the client that asked is told once', async () => {
    const { urls, servers } = await serveReplicas(
      () => {
        const server = testServer()
        server.tool('connect', {}, async (_args, ctx) => {
          await ctx.elicitUrl('page', 'Connect', 'https://example.com/connect', { elicitationId: 'asked' })
          throw pageRequired('Connect', 'https://example.com/more', 'required')
        })
        return server
      },
      { stores: await storesOf(3) },
    )
    const capabilities = { elicitation: { url: {} } }
    const session = await openSession(urls[0] as string, '2025-11-25', { capabilities })
    const other = await openSession(urls[0] as string, '2025-11-25', { capabilities })
    const [standing, others] = [await at(urls[1], session).listen(), await at(urls[1], other).listen()]
    const stream = await session.askStream({ ...callTool('connect'), id: 1 })
    const question = await stream.message()
    expect(question).toMatchObject({ params: { elicitationId: 'asked' } })
    await at(urls[1], session).post({ jsonrpc: '2.0', id: question.id, result: { action: 'accept' } })
    expect(await stream.message()).toMatchObject({ id: 1, error: { code: -32042 } })
    for (const elicitationId of ['asked', 'asked', 'unknown', 'required']) servers[2]?.completeElicitation(elicitationId)
    for (const elicitationId of ['asked', 'required'])
      expect(await standing.message()).toMatchObject({ method: 'notifications/elicitation/complete', params: { elicitationId } })
    servers[2]?.tool('new', {}, () => 'new')
    for (const stream of [standing, others]) expect(await stream.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
  })

  test('other replicas get only the token of a notice about progress, however long it is', async () => {
    const stores = await storesOf(2)
    const { urls } = await serveReplicas(() => testServer(), { stores })
    const session = await openSession(urls[0] as string, '2025-11-25')
    const heard: string[] = []
    stores[1]?.replica.listen((message) => message.kind === 'message' && message.json.includes('progress') && heard.push(message.json))
    const progress = (progressToken: string) =>
      session.post({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress: 1, message: 'x'.repeat(100_000) },
      })
    expect((await progress('t'.repeat(1000))).status).toBe(202)
    expect((await progress('known')).status).toBe(202)
    await expect.poll(() => heard.length).toBe(1)
    expect(heard[0]).toContain('known')
    expect(heard[0]?.length).toBeLessThan(500)
  })

  test('a request of a batch is cancelled at whichever replica runs it', async () => {
    const [begun, aborted] = [gate(), gate()]
    const stores = await storesOf(3)
    const { urls } = await serveReplicas(
      () => {
        const server = testServer()
        server.tool('wait', {}, async (_args, ctx) => {
          begun.open()
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
          aborted.open()
        })
        return server
      },
      { stores },
    )
    const session = await openSession(urls[0] as string, '2025-03-26')
    const newer = await openSession(urls[0] as string, '2025-06-18')
    const heard: string[] = []
    stores[0]?.replica.listen((message) => message.kind === 'message' && message.json.includes('cancelled') && heard.push(message.json))
    const asked = session.post([
      { jsonrpc: '2.0', ...callTool('wait'), id: 7 },
      { jsonrpc: '2.0', method: 'ping', id: 8 },
    ])
    await begun.opened
    const cancel = (requestId: string | number) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
    // Other replicas hear nothing of what cannot be in a batch, and of long ids.
    await at(urls[1], newer).post(cancel(9))
    await at(urls[1], session).post(cancel('x'.repeat(1000)))
    await at(urls[1], session).post(cancel(7))
    await aborted.opened
    expect((await asked).text).toContain('"id":8')
    expect(heard).toHaveLength(1)
  })

  test('a client whose scopes changed is told to read the lists again, whichever replica sees the new token', async () => {
    const authenticate = (request: { header(name: string): string | undefined }): AuthenticatedCaller => {
      const scopes = (request.header('x-scopes') ?? 'read').split(' ')
      return {
        principal: 'ada',
        auth: { issuer: 'i', subject: 'ada', clientId: 'c', scopes, claims: {}, expiresAt: Date.now() + 3_600_000 },
      }
    }
    const { urls } = await serveReplicas(
      () => {
        const server = testServer()
        server.tool('write', { scopes: ['write'] }, () => 'written')
        return server
      },
      { stores: await storesOf(3), authenticate },
    )
    const session = await openSession(urls[0] as string, '2025-06-18')
    const standing = await at(urls[1], session).listen()
    expect((await at(urls[1], session).ask(callTool('hi'))).status).toBe(200)
    expect((await at(urls[2], session).ask(callTool('hi'), { 'x-scopes': 'read write' })).status).toBe(200)
    expect(await standing.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
    expect((await at(urls[0], session).ask(callTool('hi'), { 'x-scopes': 'read write' })).status).toBe(200)
    expect((await at(urls[0], session).ask(callTool('hi'), { 'x-scopes': 'read' })).status).toBe(200)
    expect(await standing.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
    await session.end()
    expect(await standing.messages()).toEqual([])
  })

  test('a notification of an extension reaches the sessions of its revisions at all replicas', async () => {
    const handles: ReturnType<Server['extend']>[] = []
    const make = (): Server => {
      const server = testServer()
      handles.push(
        server.extend(
          serverExtension({ id: 'com.example/clock', revisions: ['2025-11-25'], sends: { 'notifications/com.example/tick': {} } }),
        ),
      )
      return server
    }
    const { urls, stores } = await serveReplicas(make, { stores: await storesOf(3) })
    const told = await Promise.all(urls.map(async (url) => (await openSession(url, '2025-11-25')).listen()))
    const older = await (await openSession(urls[0] as string, '2025-06-18')).listen()
    await until(async () => (await stores[0]?.topics.size('ready')) === 4)
    handles[2]?.notify('notifications/com.example/tick', { at: 7 })
    for (const stream of told) expect(await stream.message()).toMatchObject({ method: 'notifications/com.example/tick', params: { at: 7 } })
    expect(older.events.filter(({ data }) => data)).toEqual([])
  })

  test('a server in two handlers with one store tells each session once', async () => {
    const server = testServer()
    const clock = server.extend(
      serverExtension({ id: 'com.example/clock', revisions: ['2025-11-25'], sends: { 'notifications/com.example/tick': {} } }),
    )
    const [store] = (await storesOf(1)) as [SharedStore]
    // Each handler wraps the server to record its requests.
    const { urls, handlers } = await serveReplicas(() => server, { count: 2, stores: [store, store], onRequest: () => {} })
    const standing = await (await openSession(urls[1] as string, '2025-11-25')).listen()
    await until(async () => (await store.topics.size('ready')) === 1)
    const tick = (at: number): void => clock.notify('notifications/com.example/tick', { at })
    const told = async (): Promise<unknown[]> => [(await standing.message()).params, (await standing.message()).params]
    for (const at of [1, 2]) tick(at)
    expect(await told()).toEqual([{ at: 1 }, { at: 2 }])
    // The second handler goes on with the store.
    store.replica.leave = async () => {}
    await handlers[0]?.close()
    for (const at of [3, 4]) tick(at)
    expect(await told()).toEqual([{ at: 3 }, { at: 4 }])
  })
})
