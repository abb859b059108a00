/** Messages between replicas are hints: one that cannot be sent fails no request whose change is in the store. */

import { beforeEach, expect, test, vi } from 'vitest'
import { McpError } from '../../../../src/protocol/errors.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { http } from '../../../support/http-requests.ts'
import {
  callTool,
  type HttpSession,
  initializeMessage,
  openSession,
  sessionAt,
  storedName,
  testServer,
  until,
  WATCHED,
} from '../../../support/http-service.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'

const AWAY = new McpError('ERR_STORE_DOWN', 'One node is away')

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
})

/** Two replicas. A call of the tool `work` runs at the first one until it is aborted. */
async function working() {
  const stores = storesInMemory(2) as [SharedStore, SharedStore]
  const aborted: unknown[] = []
  const ended = vi.fn()
  const replicas = await serveReplicas(
    () => {
      const own = testServer()
      own.tool('work', {}, async (_args, ctx) => {
        await ctx.progress(1)
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        aborted.push(ctx.signal.reason)
      })
      return Object.assign(own, { onSessionEnd: ended })
    },
    { count: 2, stores },
  )
  const urls = replicas.urls as [string, string]
  const session = await openSession(urls[0], '2025-11-25')
  const stream = await session.askStream({ ...callTool('work', {}, WATCHED), id: 7 })
  await stream.message()
  const at = (url: string): HttpSession => sessionAt(url, session.id, session.headers)
  return { ...replicas, urls, stores, session, stream, at, aborted, ended }
}

test('the client ends a session although the other replicas cannot be told', async () => {
  const { stores, session, stream, aborted, ended } = await working()
  stores[0].replica.broadcast = () => Promise.reject(AWAY)
  expect((await session.end()).status).toBe(204)
  expect([aborted.length, ended.mock.calls.length]).toEqual([1, 1])
  expect(await stream.messages()).toEqual([])
})

test('all replicas end a session although the store lost the reply about its end', async () => {
  const { stores, urls, at, aborted, ended } = await working()
  const { sessions } = stores[1]
  const { end } = sessions
  sessions.end = async (sid) => {
    await end(sid)
    throw AWAY
  }
  expect((await at(urls[1]).end()).status).toBe(503)
  await until(() => aborted.length === 1)
  expect(ended).toHaveBeenCalledTimes(1)
  expect(await stores[0].topics.size('sessions')).toBe(0)
  expect((await at(urls[1]).end()).status).toBe(404)
})

test('the client ends a session although its topics cannot be removed', async () => {
  const { stores, session, stream, aborted, ended, at, urls } = await working()
  stores[1].topics.remove = () => Promise.reject(AWAY)
  expect((await at(urls[1]).end()).status).toBe(204)
  await until(() => aborted.length === 1)
  expect(ended).toHaveBeenCalledOnce()
  expect(await stream.messages()).toEqual([])
  expect((await session.end()).status).toBe(404)
})

test('the handshake is over although the other replicas cannot be told', async () => {
  const { stores, urls } = await working()
  stores[0].replica.broadcast = () => Promise.reject(AWAY)
  const begun = await http(urls[0], { body: initializeMessage('2025-11-25') })
  const id = String(begun.headers['mcp-session-id'])
  const session = sessionAt(urls[0], id, { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' })
  expect((await session.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202)
  const entered = await stores[1].sessions.enter(storedName(session), undefined, 0)
  expect(JSON.parse((entered as { record: string }).record).state.isReady).toBe(true)
})

test('progress and a cancellation are accepted although the replica of the call cannot be told', async () => {
  const { stores, at, urls } = await working()
  stores[1].replica.broadcast = () => Promise.reject(AWAY)
  stores[1].replica.send = () => Promise.reject(AWAY)
  const other = at(urls[1])
  const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } }
  expect((await other.post(progress)).status).toBe(202)
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
  expect((await other.post(cancelled)).status).toBe(202)
  expect(await stores[0].sessions.cancelled(storedName(other), ['7'])).toEqual(['7'])
})
