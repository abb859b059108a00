/** Requests that come to a replica while it closes, and afterwards. */

import { describe, expect, test, vi } from 'vitest'
import { FIXED_HTTP_LIMITS } from '../../../../src/http/server/fixed-limits.ts'
import { createHandler } from '../../../../src/http/server/handler.ts'
import { McpError } from '../../../../src/protocol/errors.ts'
import { memoryStore, type SharedStore } from '../../../../src/store/index.ts'
import { callTool, gate, type HttpSession, openSession, storedName, testServer } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { type Replicas, serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const redisServer = redisOfFile()

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(redisServer, 10_000)],
]

const called = vi.fn(() => 'called')

async function oneReplica(
  storesOf: (count: number) => Promise<SharedStore[]>,
): Promise<Replicas & { store: SharedStore; session: HttpSession }> {
  const stores = await storesOf(1)
  const define = () => {
    const server = testServer()
    server.tool('spy', {}, called)
    return server
  }
  const replicas = await serveReplicas(define, { count: 1, stores })
  called.mockClear()
  return { ...replicas, store: stores[0] as SharedStore, session: await openSession(replicas.url, '2025-11-25') }
}

test('a handler that is closed before it has loaded its store does not join', async () => {
  const store = memoryStore()
  const join = vi.spyOn(store.replica, 'join')
  const handler = createHandler(testServer(), { store, metrics: true }, FIXED_HTTP_LIMITS)
  await handler.close()
  const answer = await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers: JSON_HEADERS, body: '{}' }))
  expect([answer.status, join.mock.calls]).toEqual([503, []])
})

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  test('a closed replica refuses every request, and does not join again', async () => {
    const { handlers, store, session } = await oneReplica(storesOf)
    const standing = await session.listen()
    const [id] = (await standing.next()) ? standing.events.map((event) => event.id) : []
    await handlers[0]?.close()
    const answers = [await session.listen(), await session.listen(id), await session.ask(callTool('spy')), await session.end()]
    for (const { status, headers } of answers) expect([status, headers['retry-after']]).toEqual([503, '1'])
    expect(store.replica.isHeld).toBe(false)
    expect(called).not.toHaveBeenCalled()
  })

  test('a stream that the store opens while the replica closes is refused, and the replica has left', async () => {
    const { handlers, store, session } = await oneReplica(storesOf)
    const [begun, go] = [gate(), gate()]
    const { attach } = store.streams
    store.streams.attach = async (...args) => {
      begun.open()
      await go.opened
      return attach(...args)
    }
    const listening = session.listen()
    await begun.opened
    const closed = handlers[0]?.close()
    go.open()
    expect((await listening).status).toBe(503)
    await closed
    expect(store.replica.isHeld).toBe(false)
  })

  test('a call that the store registers while the replica closes is refused, and runs elsewhere', async () => {
    const { handlers, store, session } = await oneReplica(storesOf)
    const [begun, go] = [gate(), gate()]
    const { enter } = store.sessions
    store.sessions.enter = async (...args) => {
      begun.open()
      await go.opened
      return enter(...args)
    }
    const answer = session.ask({ ...callTool('spy'), id: 7 })
    await begun.opened
    const closed = handlers[0]?.close()
    go.open()
    expect(await answer).toMatchObject({ status: 503, message: { id: 7 } })
    await closed
    expect(store.replica.isHeld).toBe(false)
    expect(called).not.toHaveBeenCalled()
    // Its id is free.
    expect(await enter(storedName(session), '7', 1)).toMatchObject({ record: expect.any(String) })
  })
})

test('a restartable call whose stream the store has not opened gets an error when its replica closes', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const stores = storesInMemory(1)
  const [store] = stores as [SharedStore]
  const begun = gate()
  const { url, handlers } = await serveReplicas(
    () => {
      const own = testServer()
      own.tool('wait', { restartable: true }, async (_args, ctx) => {
        begun.open()
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      })
      return own
    },
    { count: 1, stores },
  )
  const session = await openSession(url, '2025-11-25')
  store.streams.open = () => Promise.reject(new McpError('ERR_STORE_DOWN', 'The store is away'))
  const stream = session.askStream({ ...callTool('wait'), id: 7 })
  await begun.opened
  await handlers[0]?.close()
  expect(await (await stream).messages()).toMatchObject([{ id: 7, error: { data: { reason: 'replica_lost', retryable: true } } }])
})
