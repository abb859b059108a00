/** Servers of 2026-07-28 clients alone: they share keys and a bus, and `listen` has no store. */

import { expect, onTestFinished, test } from 'vitest'
import { randomId } from '../../../../src/base/bytes.ts'
import { type RedisStore, redis } from '../../../../src/redis/index.ts'
import { keyRing, type Server } from '../../../../src/server/index.ts'
import { httpStream } from '../../../support/http-requests.ts'
import { askModern, callTool, LISTEN, modern, serve, testServer, until } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'

const redisServer = redisOfFile()
const keys = keyRing('a secret of all servers, and long enough')
const LEASE_MS = 1000
const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
const CAN_ASK = { _meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } } }

interface Shared {
  server: Server
  url: string
  store: RedisStore
}

async function twoServers(): Promise<[Shared, Shared]> {
  const { url } = await redisServer()
  const prefix = `${randomId()}:`
  const one = async (): Promise<Shared> => {
    const store = redis(url, { prefix, leaseMs: LEASE_MS })
    onTestFinished(() => store.close())
    const server = testServer({ keys, bus: store.bus })
    server.tool('greet', {}, async (_args, ctx) => `Hello ${(await ctx.elicit('name', 'Your name?', NAME)).name}`)
    server.resource('note://{id}', { name: 'note' }, ({ id }) => id)
    // What is said before a server is among the others does not reach it.
    await store.replica.join()
    return { server, url: (await serve(server, { sessions: false })).url, store }
  }
  const here = await one()
  const heard = new Set<string>()
  const stop = here.store.bus.subscribe(({ kind }) => heard.add(kind))
  const there = await one()
  // What it says of its definitions comes first.
  await until(() => heard.has('tools') && heard.has('resources'))
  stop()
  return [here, there]
}

test('a client that listens at one server hears once of each change at the other', async () => {
  const [here, there] = await twoServers()
  const notifications = { toolsListChanged: true, resourceSubscriptions: ['note://1'] }
  const stream = await httpStream(here.url, modern({ ...LISTEN, params: { notifications } }))
  expect(await stream.message()).toMatchObject({ method: 'notifications/subscriptions/acknowledged', params: { notifications } })
  there.server.resourceChanged('note://2')
  there.server.resourceChanged('note://1')
  expect(await stream.message()).toMatchObject({ method: 'notifications/resources/updated', params: { uri: 'note://1' } })
  there.server.tool('new', {}, () => 'new')
  expect(await stream.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
  here.server.resourceChanged('note://1')
  expect(await stream.message()).toMatchObject({ method: 'notifications/resources/updated', params: { uri: 'note://1' } })
})

test('a server that had lost its lease hears of changes again', async () => {
  const [here, there] = await twoServers()
  const stream = await httpStream(here.url, modern(LISTEN))
  await stream.message()
  const { cli } = await redisServer()
  const [prefix] = (await cli('--scan', '--pattern', `*{replica:${here.store.replica.id}}:lease`)).split('{')
  const before = here.store.replica.id
  await cli('DEL', `${prefix}{replica:${before}}:lease`)
  await expect.poll(() => here.store.replica.id !== before && here.store.replica.isHeld).toBe(true)
  there.server.tool('new', {}, () => 'new')
  expect(await stream.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
})

test('a round of questions that one server began goes on at the other', async () => {
  const [here, there] = await twoServers()
  const asked = await askModern(here.url, callTool('greet', {}, CAN_ASK))
  const { resultType, requestState, inputRequests } = asked.message.result as Record<string, unknown>
  expect(resultType).toBe('input_required')
  expect(inputRequests).toMatchObject({ name: { method: 'elicitation/create' } })
  const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } }
  const answered = await askModern(there.url, callTool('greet', {}, { ...CAN_ASK, requestState, inputResponses }))
  expect(answered.message).toMatchObject({ result: { content: [{ text: 'Hello Ada' }] } })
})
