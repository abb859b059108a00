/** Clients of 2026-07-28 hear of changes that did not reach their replica. */

import { afterEach, beforeEach, describe, expect, type MockInstance, onTestFinished, test, vi } from 'vitest'
import { randomId } from '../../src/base/bytes.ts'
import { type RedisStore, redis } from '../../src/redis/index.ts'
import { type EventReader, httpStream } from '../support/http-requests.ts'
import { LISTEN, modern, serve, testServer, until } from '../support/http-service.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { serveReplicas } from '../support/replicas.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'

const server = redisOfFile()
const NOTIFICATIONS = { toolsListChanged: true, resourceSubscriptions: ['note://1'] }

let log: MockInstance<typeof console.error>
let proxy: TcpProxy | undefined
beforeEach(() => {
  log = vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(async () => {
  log.mockRestore()
  await proxy?.close()
  proxy = undefined
})

/** A listening client at a replica whose connections to Redis can be broken, and another replica where things change. */
async function listening(leaseMs: number, hasBus: boolean) {
  const { url, port } = await server()
  proxy = await tcpProxy(port)
  const prefix = `${randomId()}:`
  const stores = [
    redis(`redis://127.0.0.1:${proxy.port}`, { prefix, leaseMs, timeoutMs: 200 }),
    redis(url, { prefix, leaseMs: 20_000, timeoutMs: 2000 }),
  ] as [RedisStore, RedisStore]
  const { urls, servers } = await serveReplicas(
    (i) => {
      const own = testServer(hasBus ? { bus: (stores[i] as RedisStore).bus } : {})
      own.resource('note://{id}', { name: 'note' }, ({ id }) => id)
      return own
    },
    { count: 2, stores },
  )
  await Promise.all(stores.map(({ replica }) => replica.join()))
  const stream = await httpStream(
    urls[0] as string,
    modern({ method: 'subscriptions/listen', params: { notifications: NOTIFICATIONS }, id: 1 }),
  )
  await stream.message()
  let sent = 0
  const { replica } = stores[1]
  const { broadcast } = replica
  replica.broadcast = async (json) => {
    await broadcast.call(replica, json)
    sent++
  }
  const change = async (): Promise<void> => {
    servers[1]?.tool('new', {}, () => 'new')
    servers[1]?.resourceChanged('note://1')
    await until(() => sent >= (hasBus ? 4 : 2))
  }
  return { stores, stream, change, proxy }
}

const heard = ({ events }: EventReader): Set<string> =>
  new Set(events.map(({ data }) => JSON.parse(data as string)).map(({ method, params }) => params.uri ?? method))
const ALL = ['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed', 'note://1']

describe.each([
  ['the store of the endpoint', false],
  ['the bus of the server', true],
])('with %s', (_name, hasBus) => {
  test('a client hears of what changed while its replica had no lease', async () => {
    const { stores, stream, change, proxy } = await listening(1000, hasBus)
    const { replica } = stores[0]
    const { id } = replica
    proxy.hang('both')
    await until(() => replica.id !== id)
    await change()
    proxy.heal()
    await until(() => heard(stream).size === ALL.length)
    expect(heard(stream)).toEqual(new Set(ALL))
  }, 30_000)

  test('a client hears of what changed while the inbox of its replica was full', async () => {
    const { stores, stream, change, proxy } = await listening(8000, hasBus)
    const { id } = stores[0].replica
    proxy.hang('both')
    await stores[1].replica.send(id, JSON.stringify('x'.repeat(32 * 1024 * 1024)))
    await change()
    proxy.heal()
    proxy.cut()
    await until(() => heard(stream).size === ALL.length)
    expect(heard(stream)).toEqual(new Set(ALL))
    expect(stores[0].replica.id, 'the lease was never lost').toBe(id)
  }, 30_000)
})

test('a replica that another command has joined again is still told that it missed messages', async () => {
  const { port } = await server()
  proxy = await tcpProxy(port)
  const store = redis(`redis://127.0.0.1:${proxy.port}`, { prefix: `${randomId()}:`, leaseMs: 4000, timeoutMs: 200 })
  const told: string[] = []
  store.replica.listen(({ kind }) => told.push(kind))
  await store.replica.join()
  proxy.hang('both')
  await until(() => told.includes('lost'))
  // It waits for a tenth of the lease before it tries again.
  proxy.heal()
  proxy.cut()
  await until(() =>
    store.replica.join().then(
      () => true,
      () => false,
    ),
  )
  await until(() => told.includes('missed'))
  await store.close()
}, 30_000)

test('a bus that could not send a change tells the others that they missed one', async () => {
  const { url, port } = await server()
  proxy = await tcpProxy(port)
  const prefix = `${randomId()}:`
  const sender = redis(`redis://127.0.0.1:${proxy.port}`, { prefix, leaseMs: 20_000, timeoutMs: 200 })
  const hearer = redis(url, { prefix, leaseMs: 20_000 })
  const heard: string[] = []
  await Promise.all([sender.replica.join(), hearer.replica.join()])
  hearer.bus.subscribe(
    ({ kind }) => heard.push(kind),
    () => heard.push('missed'),
  )
  proxy.hang('both')
  for (let i = 0; i < 3; i++) sender.bus.publish({ kind: 'tools' })
  await until(() => log.mock.calls.length > 0)
  proxy.heal()
  await until(() => heard.length > 0)
  sender.bus.publish({ kind: 'prompts' })
  await until(() => heard.includes('prompts'))
  expect(heard).toEqual(['missed', 'prompts'])
  await Promise.all([sender.close(), hearer.close()])
}, 30_000)

test('a client that listens before its replica is among the others is told of everything', async () => {
  const { port } = await server()
  proxy = await tcpProxy(port)
  proxy.hang('both')
  const store = redis(`redis://127.0.0.1:${proxy.port}`, { prefix: `${randomId()}:`, timeoutMs: 200 })
  onTestFinished(() => store.close())
  const { url } = await serve(testServer({ bus: store.bus }), { sessions: false })
  const stream = await httpStream(url, modern(LISTEN))
  expect(await stream.message()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' })
  await until(() => log.mock.calls.length > 0)
  proxy.heal()
  proxy.cut()
  expect(await stream.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
}, 30_000)
