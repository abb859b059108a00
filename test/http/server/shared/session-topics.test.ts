/** A shared session stays in the topics that it wants to hear of. */

import { expect, test, vi } from 'vitest'
import { McpError } from '../../../../src/protocol/errors.ts'
import type { Server } from '../../../../src/server/index.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { http, httpStream } from '../../../support/http-requests.ts'
import {
  callTool,
  gate,
  initializeMessage,
  LISTEN,
  modern,
  openSession,
  sessionAt,
  testServer,
  WATCHED,
} from '../../../support/http-service.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'

const SUBSCRIBE = { method: 'resources/subscribe', params: { uri: 'note://1' } }
const UPDATED = { method: 'notifications/resources/updated', params: { uri: 'note://1' } }

async function served(limits = {}) {
  const stores = storesInMemory(1)
  const [store] = stores as [SharedStore]
  // A replica looks after its sessions four times in this time.
  Object.defineProperty(store.replica, 'leaseMs', { value: 200 })
  const go = gate()
  const { urls, servers } = await serveReplicas(
    () => {
      const made = testServer()
      made.resource('note://{id}', { name: 'note' }, ({ id }) => id)
      made.tool('wait', {}, async (_args, ctx) => {
        await ctx.progress(1)
        await go.opened
        return 'waited'
      })
      return made
    },
    { count: 1, stores, limits },
  )
  return { store, url: urls[0] as string, server: servers[0] as Server, go }
}

/** The next attempt to add a session to this topic fails. */
function failOnce({ topics }: SharedStore, failing: string): void {
  const { add } = topics
  let isFailing = true
  topics.add = async (topic, ...rest) => {
    if (topic !== failing || !isFailing) return add(topic, ...rest)
    isFailing = false
    throw new McpError('ERR_STORE_DOWN', 'The topic cannot be reached')
  }
}

test.each([true, false])('a session hears of changes while a call takes longer than its life, as a stream: %s', async (isStream) => {
  const { url, server, go } = await served({ sessionIdleMs: 1000 })
  const session = await openSession(url, '2025-11-25')
  expect((await session.ask(SUBSCRIBE)).status).toBe(200)
  const call = { ...callTool('wait', {}, isStream ? WATCHED : {}), id: 7 }
  const answer = isStream ? session.askStream(call) : session.ask(call, { accept: 'application/json' })
  await new Promise((resolve) => setTimeout(resolve, 3000))
  server.resourceChanged('note://1')
  go.open()
  await answer
  expect(await (await session.listen()).message()).toMatchObject(UPDATED)
})

test('a client that subscribes again after an error hears of the resource', async () => {
  const { url, server, store } = await served()
  const session = await openSession(url, '2025-11-25')
  failOnce(store, 'resource note://1')
  expect((await session.ask(SUBSCRIBE)).text).toContain('"error"')
  expect((await session.ask(SUBSCRIBE)).text).toContain('"result"')
  const standing = await session.listen()
  server.resourceChanged('note://1')
  expect(await standing.message()).toMatchObject(UPDATED)
})

test('a client that says again after an error that it is ready hears of changes', async () => {
  const { url, server, store } = await served()
  const { headers } = await http(url, { body: initializeMessage('2025-11-25') })
  const id = String(headers['mcp-session-id'])
  const session = sessionAt(url, id, { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' })
  const ready = { jsonrpc: '2.0', method: 'notifications/initialized' }
  failOnce(store, 'ready')
  expect((await session.post(ready)).status).toBe(503)
  expect((await session.post(ready)).status).toBe(202)
  const standing = await session.listen()
  server.tool('new', {}, () => 'new')
  expect(await standing.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
})

test('a session that unsubscribes and subscribes at once at two replicas hears of the resource', async () => {
  const stores = storesInMemory(2)
  const { urls, servers } = await serveReplicas(
    () => {
      const made = testServer()
      made.resource('note://{id}', { name: 'note' }, ({ id }) => id)
      return made
    },
    { count: 2, stores },
  )
  const session = await openSession(urls[0] as string, '2025-11-25')
  const elsewhere = sessionAt(urls[1] as string, session.id, session.headers)
  await session.ask(SUBSCRIBE)
  const { topics } = stores[1] as SharedStore
  const { remove } = topics
  const [removing, go] = [gate(), gate()]
  topics.remove = async (...args) => {
    removing.open()
    await go.opened
    return remove(...args)
  }
  const unsubscribed = elsewhere.ask({ ...SUBSCRIBE, method: 'resources/unsubscribe', id: 2 })
  await removing.opened
  expect((await session.ask({ ...SUBSCRIBE, id: 3 })).text).toContain('"result"')
  go.open()
  expect((await unsubscribed).text).toContain('"result"')
  const standing = await session.listen()
  servers[0]?.resourceChanged('note://1')
  expect(await standing.message()).toMatchObject(UPDATED)
})

test('a client that listens before its replica has joined the others is told of everything, once', async () => {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const stores = storesInMemory(1)
  const { replica } = stores[0] as SharedStore
  const { join } = replica
  let isAway = true
  replica.join = async () => {
    if (isAway) throw new McpError('ERR_STORE_DOWN', 'The store cannot be reached')
    return join.call(replica)
  }
  const { urls, servers } = await serveReplicas(() => testServer(), { count: 1, stores })
  const stream = await httpStream(urls[0] as string, modern(LISTEN))
  expect(await stream.message()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' })
  isAway = false
  expect(await stream.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
  servers[0]?.prompt('other', {}, () => 'other')
  servers[0]?.tool('new', {}, () => 'new')
  await stream.message()
  expect(stream.events).toHaveLength(3)
  errors.mockRestore()
})
