/** Requests whose end the store refuses: they end there as soon as it takes the end, so that no other replica runs them again. */

import { expect, test, vi } from 'vitest'
import { FIXED_HTTP_LIMITS } from '../../../../src/http/server/fixed-limits.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../../src/http/server/options.ts'
import { type LateEnd, LateEnds } from '../../../../src/http/server/shared/late-ends.ts'
import { boundsOf } from '../../../../src/http/server/shared/log-bounds.ts'
import { McpError } from '../../../../src/protocol/errors.ts'
import { memoryStore, type SharedStore } from '../../../../src/store/index.ts'
import { callTool, gate, openSession, sessionAt, testServer, until, WATCHED } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const server = redisOfFile()
const LIMITS = { ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS }

/** Refuses appends to streams of requests from now on, as a Redis without memory does, which still renews leases. */
function refuseAppends({ streams }: SharedStore) {
  const { append } = streams
  const store = { isFull: true, ended: gate() }
  streams.append = async (sid, stream, batch, bounds) => {
    if (store.isFull && stream !== '0') throw new McpError('ERR_STORE_DOWN', 'OOM')
    const appended = await append(sid, stream, batch, bounds)
    if (batch.isLast) store.ended.open()
    return appended
  }
  return store
}

async function replicasWithWork() {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const stores = (await storesInRedis(server, 1000)(2)) as [SharedStore, SharedStore]
  const runs = [0, 0]
  const goOn = gate()
  const { urls, handlers } = await serveReplicas(
    (replica) => {
      const own = testServer()
      own.tool('work', { restartable: true }, async (_args, ctx) => {
        runs[replica] = (runs[replica] ?? 0) + 1
        await ctx.progress(1)
        await goOn.opened
        return 'done'
      })
      return own
    },
    { count: 2, stores },
  )
  return { stores, runs, goOn, handlers, urls: urls as [string, string], session: await openSession(urls[0] as string, '2025-11-25') }
}

const REFUSED = { id: 7, error: { code: -32603, data: { reason: 'store_down' } } }

test('a restartable call whose answer was refused ends later, and does not run again', async () => {
  const { stores, runs, goOn, handlers, session } = await replicasWithWork()
  const stream = await session.askStream({ ...callTool('work', {}, WATCHED), id: 7 })
  await stream.message()
  const store = refuseAppends(stores[0])
  goOn.open()
  expect(await stream.messages()).toMatchObject([REFUSED])
  expect(runs).toEqual([1, 0])
  store.isFull = false
  await store.ended.opened
  await handlers[0]?.close()
  // The other replica has looked for what the first one has left.
  expect(await stores[1].replica.claimDead()).toBeUndefined()
  expect(runs).toEqual([1, 0])
})

test('a replica that ends tells the store of such calls before it leaves', async () => {
  const { stores, runs, goOn, handlers, session } = await replicasWithWork()
  const stream = await session.askStream({ ...callTool('work', {}, WATCHED), id: 7 })
  await stream.message()
  const store = refuseAppends(stores[0])
  goOn.open()
  await stream.ended
  store.isFull = false
  await handlers[0]?.close()
  expect(await stores[1].replica.claimDead()).toBeUndefined()
  expect(runs).toEqual([1, 0])
})

test('a client that was away when its answer was refused gets the error when it comes back', async () => {
  const { stores, goOn, urls, session } = await replicasWithWork()
  const stream = await session.askStream({ ...callTool('work', {}, WATCHED), id: 7 })
  await stream.message()
  const store = refuseAppends(stores[0])
  const resumed = await sessionAt(urls[1], session.id, session.headers).listen(stream.events.at(-1)?.id)
  await stream.ended
  const add = vi.spyOn(LateEnds.prototype, 'add')
  goOn.open()
  await until(() => add.mock.calls.length === 1)
  store.isFull = false
  expect(await resumed.messages()).toMatchObject([REFUSED])
})

test('a restartable call whose stream was opened without a reply ends later, and does not run again', async () => {
  const { stores, runs, handlers, session } = await replicasWithWork()
  const { streams } = stores[0]
  const { open } = streams
  const store = refuseAppends(stores[0])
  let opened: ReturnType<typeof open> | undefined
  streams.open = async (...args) => {
    // As Redis, which recognises a command that it gets again.
    opened ??= open(...args)
    const epoch = await opened
    if (store.isFull) throw new McpError('ERR_STORE_DOWN', 'No reply')
    return epoch
  }
  const stream = await session.askStream({ ...callTool('work'), id: 7 })
  expect(await stream.messages()).toMatchObject([REFUSED])
  store.isFull = false
  await store.ended.opened
  await handlers[0]?.close()
  expect(await stores[1].replica.claimDead()).toBeUndefined()
  expect(runs).toEqual([1, 0])
})

/** Late ends of a replica with a session in memory. */
async function lateEnds() {
  const store = memoryStore()
  await store.replica.join()
  await store.sessions.create('s', '{}', { ttlMs: 60_000, maxAgeMs: 60_000 })
  let batches = 0
  const reports: unknown[] = []
  const report = (error: unknown): void => void reports.push(error)
  const services = { store, bounds: boundsOf(LIMITS), nextBatch: () => ++batches, tails: { wake: () => {} } as never, report }
  const open = async (stream: string): Promise<LateEnd> => {
    const epoch = (await store.streams.open('s', stream, '{}')) as number
    return { sid: 's', stream, epoch }
  }
  const read = (stream: string) => store.streams.attach('s', stream, '', 10)
  return { store, open, read, reports, late: new LateEnds(services) }
}

test('a stream ends with its answer, or without one that is long', async () => {
  const { late, open, read } = await lateEnds()
  late.add({ ...(await open('a')), json: '"short"' })
  late.add({ ...(await open('b')), json: `"${'x'.repeat(1024)}"` })
  await late.tryAll()
  expect(await read('a')).toMatchObject({ isOver: true, events: [{ json: '"short"' }] })
  expect(await read('b')).toMatchObject({ isOver: true, events: [] })
  expect(late.size).toBe(0)
})

test('a stream that the store may have opened is opened again and ended', async () => {
  const { store, late, read } = await lateEnds()
  const { open } = store.streams
  let replies = 0
  store.streams.open = async (...args) => {
    if (++replies === 1) throw new McpError('ERR_STORE_DOWN', 'No reply')
    return open(...args)
  }
  late.add({ sid: 's', stream: 'a', epoch: undefined })
  await late.tryAll()
  expect([late.size, await read('a')]).toEqual([1, 'gone'])
  await late.tryAll()
  expect([late.size, await read('a')]).toEqual([0, expect.objectContaining({ isOver: true, events: [] })])
  expect(replies).toBe(2)
})

test('a stream that the store refuses to end does not keep the others from their end', async () => {
  const { store, late, open, read, reports } = await lateEnds()
  const { append } = store.streams
  const faults = { a: new McpError('ERR_STORE_DOWN', 'One node is away'), b: new McpError('ERR_STORE', 'The stream is damaged') }
  store.streams.append = (sid, stream, ...more) => {
    return stream in faults ? Promise.reject(faults[stream as keyof typeof faults]) : append(sid, stream, ...more)
  }
  for (const stream of ['a', 'b', 'c', 'd']) late.add(await open(stream))
  await late.tryAll()
  // Trying again does not help the one that is damaged.
  expect([late.size, reports]).toEqual([1, [faults.a, faults.b]])
  for (const stream of ['c', 'd']) expect(await read(stream)).toMatchObject({ isOver: true })
  store.streams.append = append
  await late.tryAll()
  expect([late.size, await read('a')]).toEqual([0, expect.objectContaining({ isOver: true })])
})

test('a replica that has lost its lease leaves such streams to others', async () => {
  const { store, late, open } = await lateEnds()
  late.add(await open('a'))
  const append = vi.spyOn(store.streams, 'append')
  await store.replica.leave()
  await store.replica.join()
  await late.tryAll()
  expect([late.size, append.mock.calls]).toEqual([0, []])
})

test('at most 10,000 streams wait for their end, and the oldest is forgotten, which the log says', async () => {
  const { store, late, reports } = await lateEnds()
  for (let at = 0; at < 10_000; at++) late.add({ sid: 's', stream: `${at}`, epoch: 1 })
  // One that waits already takes no room.
  late.add({ sid: 's', stream: '0', epoch: 1 })
  expect([late.size, reports]).toEqual([10_000, []])
  late.add({ sid: 's', stream: '10000', epoch: 1 })
  expect([late.size, reports]).toEqual([10_000, [expect.objectContaining({ message: expect.stringContaining('More than 10000') })]])
  const append = vi.spyOn(store.streams, 'append')
  await late.tryAll()
  expect([late.size, append.mock.calls.length, append.mock.calls[0]?.[1]]).toEqual([0, 10_000, '2'])
})

test('the other endpoint of a store ends the calls of a closed one that the store refused', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const [store] = (await storesInRedis(server, 1000)(1)) as [SharedStore]
  const { urls, handlers } = await serveReplicas(
    () => {
      const own = testServer()
      own.tool('work', {}, async (_args, ctx) => {
        await ctx.progress(1)
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      })
      return own
    },
    { count: 2, stores: [store, store] },
  )
  const session = await openSession(urls[0] as string, '2025-11-25')
  const stream = await session.askStream({ ...callTool('work', {}, WATCHED), id: 7 })
  await stream.message()
  const refusing = refuseAppends(store)
  await handlers[0]?.close()
  await stream.ended
  refusing.isFull = false
  const resumed = await sessionAt(urls[1] as string, session.id, session.headers).listen(stream.events.filter(({ id }) => id).at(-1)?.id)
  expect(await resumed.messages()).toMatchObject([REFUSED])
})
