/** The looks of a replica at its sessions and requests, while one of them cannot be read. */

import { beforeEach, expect, test, vi } from 'vitest'
import { McpError } from '../../../../src/protocol/errors.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { callTool, gate, openSession, storedName, testServer, until, WATCHED } from '../../../support/http-service.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
})

async function served(sessionIdleMs: number) {
  const stores = storesInMemory(1)
  const [store] = stores as [SharedStore]
  // A replica looks four times in this time.
  Object.defineProperty(store.replica, 'leaseMs', { value: 200 })
  let aborted = 0
  const define = () => {
    const own = testServer()
    own.tool('wait', {}, async (_args, ctx) => {
      await ctx.progress(1)
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      aborted++
    })
    return own
  }
  const { urls } = await serveReplicas(define, { count: 1, stores, limits: { sessionIdleMs } })
  return { store, url: urls[0] as string, aborted: () => aborted }
}

test('a session that cannot be read does not keep the others from being renewed', async () => {
  const { store, url } = await served(1000)
  const [bad, good] = [await openSession(url, '2025-11-25'), await openSession(url, '2025-11-25')]
  for (const session of [bad, good]) await session.listen()
  let renewed = 0
  const { enter } = store.sessions
  store.sessions.enter = async (sid, ...rest) => {
    if (sid === storedName(bad)) throw new McpError('ERR_STORE', 'The session is damaged')
    if (sid === storedName(good)) renewed++
    return enter(sid, ...rest)
  }
  await until(() => renewed > 1)
})

test('sessions are renewed as soon as the store answers again', async () => {
  const { store, url } = await served(12_000)
  const session = await openSession(url, '2025-11-25')
  await session.listen()
  const times: number[] = []
  const { enter } = store.sessions
  store.sessions.enter = async (...args) => {
    times.push(performance.now())
    if (times.length < 3) throw new McpError('ERR_STORE_DOWN', 'The store is away')
    return enter(...args)
  }
  await until(() => times.length === 3)
  const [first = 0, , third = 0] = times
  // Without an error it is done only every 3,000 ms.
  expect(third - first).toBeLessThan(3000)
})

test('a session that cannot be read does not hide the cancellations of the others', async () => {
  const { store, url, aborted } = await served(60_000)
  const [bad, good] = [await openSession(url, '2025-11-25'), await openSession(url, '2025-11-25')]
  for (const session of [bad, good]) await (await session.askStream({ ...callTool('wait', {}, WATCHED), id: 7 })).message()
  store.sessions.cancelled = async (sid, calls) => {
    if (sid === storedName(bad)) throw new McpError('ERR_STORE', 'The requests are damaged')
    return [...calls]
  }
  await until(() => aborted() === 1)
})

test('a call that is damaged has one line in the log, however often the replica looks', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { store, url } = await served(60_000)
  await (await (await openSession(url, '2025-11-25')).askStream({ ...callTool('wait', {}, WATCHED), id: 7 })).message()
  let looks = 0
  store.streams.answers = async () => {
    looks++
    throw new McpError('ERR_STORE', 'The stream is damaged')
  }
  const lines = (): number => log.mock.calls.filter((words) => words.join(' ').includes('The stream is damaged')).length
  await until(() => lines() > 0)
  const before = looks
  // The reports themselves are at least a second apart.
  await until(() => looks > before + 40)
  expect(lines()).toBe(1)
})

test('a replica looks for cancellations while its sessions are renewed', async () => {
  const { store, url, aborted } = await served(1000)
  const session = await openSession(url, '2025-11-25')
  await session.listen()
  const { enter } = store.sessions
  const [renewing, go] = [gate(), gate()]
  store.sessions.enter = async (sid, call, ...rest) => {
    if (call === undefined) {
      renewing.open()
      await go.opened
    }
    return enter(sid, call, ...rest)
  }
  await renewing.opened
  await (await session.askStream({ ...callTool('wait', {}, WATCHED), id: 7 })).message()
  store.sessions.cancelled = async (_sid, calls) => [...calls]
  await until(() => aborted() === 1)
  go.open()
})
