/** Requests that change one shared session at the same time. */

import { describe, expect, test, vi } from 'vitest'
import type { RequestRecord } from '../../../../src/observability/index.ts'
import type { Server, ServerOptions } from '../../../../src/server/index.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { gate, type HttpSession, openSession, sessionAt, storedName, testServer, until } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(redisOfFile())],
]

const noted = (options: Partial<ServerOptions> = {}): Server => {
  const server = testServer(options)
  server.resource('note://{id}', { name: 'note' }, ({ id }) => id)
  return server
}

const subscribe = (session: HttpSession, id: number) =>
  session.ask({ method: 'resources/subscribe', params: { uri: `note://${id}` }, id: `subscribe ${id}` })

const IDS = Array.from({ length: 64 }, (_, id) => id)

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  test.each([
    ['one replica', 1],
    ['three replicas', 3],
  ])('a client may subscribe to 64 resources at once at %s, and hears of each', async (_title, count) => {
    const { url, urls, servers } = await serveReplicas(() => noted(), { stores: await storesOf(count), count })
    const session = await openSession(urls[0] as string, '2025-11-25')
    const anywhere = sessionAt(url, session.id, session.headers)
    const answers = await Promise.all(IDS.map((id) => subscribe(anywhere, id)))
    expect(answers.map(({ message }) => message.error).filter(Boolean)).toEqual([])
    const standing = await session.listen()
    for (const id of IDS) servers[id % count]?.resourceChanged(`note://${id}`)
    const heard = new Set<string>()
    while (heard.size < IDS.length) heard.add((await standing.message()).params.uri)
    expect([...heard].sort()).toEqual(IDS.map((id) => `note://${id}`).sort())
  })
})

test('a subscription that others prevent gets an error that says so, and leaves no topic behind', async () => {
  const stores = storesInMemory(1)
  const [{ sessions, topics }] = stores as [SharedStore]
  const { urls } = await serveReplicas(() => noted(), { stores, count: 1 })
  const session = await openSession(urls[0] as string, '2025-11-25')
  const { replace } = sessions
  // As if others had always just changed it.
  sessions.replace = async () => false
  const refused = await subscribe(session, 1)
  expect(refused.message.error).toMatchObject({
    message: expect.stringContaining('at once'),
    data: { reason: 'too-many-requests', retryable: true },
  })
  expect(await topics.size('resource note://1')).toBe(0)
  sessions.replace = replace
  expect((await subscribe(session, 1)).message.result).toEqual({})
  expect(await topics.page('resource note://1')).toMatchObject({ members: [storedName(session)] })
})

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  test.each<[string, (session: HttpSession) => ReturnType<HttpSession['post']>]>([
    ['a notification', (session) => session.post({ jsonrpc: '2.0', method: 'notifications/initialized' })],
    ['a request', (session) => subscribe(session, 1)],
    ['a batch', (session) => session.post([{ jsonrpc: '2.0', id: 1, method: 'logging/setLevel', params: { level: 'info' } }])],
  ])('%s that changes a session which ends meanwhile gets status 404, and is no fault', async (title, send) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const [store] = (await storesOf(1)) as [SharedStore]
    const onError = vi.fn()
    const records: RequestRecord[] = []
    const onRequest = (record: RequestRecord): void => void records.push(record)
    const { urls, handlers } = await serveReplicas(() => noted({ onError, logging: {} }), { stores: [store], count: 1, onRequest })
    const session = await openSession(urls[0] as string, title === 'a batch' ? '2025-03-26' : '2025-11-25')
    const { sessions } = store
    const { replace } = sessions
    log.mockClear()
    records.length = 0
    sessions.replace = async (sid, ...more) => {
      await sessions.end(sid)
      return replace.call(sessions, sid, ...more)
    }
    const answer = await send(session)
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('Session not found')])
    await until(() => handlers[0]?.counts.inFlight === 0)
    expect([onError.mock.calls, log.mock.calls]).toEqual([[], []])
    // The record says what the client got. A notification has none.
    const brackets = title === 'a batch' ? 2 : 0
    const record = { outcome: 'error', code: -32600, responseBytes: answer.text.length - brackets }
    expect(records).toMatchObject(title === 'a notification' ? [] : [record])
    log.mockRestore()
  })
})

test('a client that subscribes while another replica still ends its former subscription stays subscribed', async () => {
  const stores = storesInMemory(2) as [SharedStore, SharedStore]
  const { urls } = await serveReplicas(() => noted(), { stores, count: 2 })
  const session = await openSession(urls[0] as string, '2025-11-25')
  await subscribe(session, 1)
  const [leaving, mayLeave, writing, mayWrite] = [gate(), gate(), gate(), gate()]
  const { topics } = stores[0]
  const { remove } = topics
  topics.remove = async (...args) => {
    leaving.open()
    await mayLeave.opened
    return remove(...args)
  }
  const { sessions } = stores[1]
  const { replace } = sessions
  sessions.replace = async (...args) => {
    writing.open()
    await mayWrite.opened
    return replace(...args)
  }
  const ended = session.ask({ method: 'resources/unsubscribe', params: { uri: 'note://1' }, id: 'unsubscribe' })
  await leaving.opened
  const begun = subscribe(sessionAt(urls[1] as string, session.id, session.headers), 1)
  await writing.opened
  mayLeave.open()
  await ended
  mayWrite.open()
  expect((await begun).message.error).toBeUndefined()
  expect((await topics.page('resource note://1')).members).toHaveLength(1)
})
