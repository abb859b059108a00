/** Replicas with other keys than the rest, behind a balancer that does not ask whether they are ready: no client waits for ever. */

import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest'
import { z } from 'zod'
import { randomId } from '../../src/base/bytes.ts'
import type { HttpHandler } from '../../src/http/server/handler.ts'
import { connect } from '../../src/index.ts'
import { redis } from '../../src/redis/index.ts'
import { keyRing, type Server } from '../../src/server/index.ts'
import type { SharedStore } from '../../src/store/index.ts'
import { callTool, type HttpSession, openSession, sessionAt, storedName, testServer, until, WATCHED } from '../support/http-service.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { type Replicas, serveReplicas } from '../support/replicas.ts'

const server = redisOfFile()
const OLD = 'the old secret, of at least 32 characters'
const NEW = 'the new secret, of at least 32 characters'
const ELICITS = { capabilities: { elicitation: {} } }

let log: MockInstance<typeof console.error>
beforeEach(() => {
  log = vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => void vi.restoreAllMocks())

const said = (): string => log.mock.calls.flat().join('\n')

function define(secrets: readonly string[]): Server {
  const made = testServer({ keys: keyRing(secrets) })
  made.tool('name', {}, async (_args, ctx) => {
    const { name } = await ctx.elicit('name', 'Your name?', z.object({ name: z.string() }))
    return `Hello ${name}`
  })
  made.tool('work', {}, async (_args, ctx) => {
    for (let i = 1; !ctx.signal.aborted; i++) {
      await ctx.progress(i)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return 'aborted'
  })
  made.tool('wait', {}, async (_args, ctx) => {
    await ctx.progress(1)
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
    return 'aborted'
  })
  return made
}

const LEASE_MS = 1000
/** For a replica that must do something before another lease ends, also on a busy machine. */
const LONG_LEASE_MS = 6000

/** One replica for each ring of secrets. `kill` takes its lease away, as if it had been silent for too long. */
const replicasWith = (...rings: string[][]): Promise<KillableReplicas> => replicasWithLease(LEASE_MS, ...rings)

type KillableReplicas = Replicas & { kill(replica: number): Promise<void> }

async function replicasWithLease(leaseMs: number, ...rings: string[][]): Promise<KillableReplicas> {
  const { url, cli } = await server()
  const prefix = `${randomId()}:`
  const stores = rings.map((secrets) => redis(url, { prefix, leaseMs, keys: keyRing(secrets) }))
  const replicas = await serveReplicas((i) => define(rings[i] as string[]), { count: rings.length, stores })
  await Promise.all(stores.map(({ replica }) => replica.join()))
  const kill = async (i: number): Promise<void> => {
    const { id } = (stores[i] as (typeof stores)[0]).replica
    await cli('ZADD', `${prefix}replicas`, '0', id)
    await cli('DEL', `${prefix}{replica:${id}}:lease`)
  }
  return { ...replicas, kill }
}

const at = (url: string | undefined, { id, headers }: HttpSession): HttpSession => sessionAt(url as string, id, headers)

const answerTo = (id: unknown) => ({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'Ada' } } })

test('a replica with other keys refuses requests of sessions at once, and clients may send them again', async () => {
  const { urls } = await replicasWith([OLD], [NEW])
  const session = await openSession(urls[0] as string, '2025-11-25', ELICITS)
  const other = at(urls[1], session)
  const refused = [await other.ask(callTool('hi')), await other.post(answerTo('a.1')), await other.end()]
  expect((await other.listen()).status).toBe(503)
  for (const { status, headers, text } of refused) {
    expect([status, headers['retry-after']]).toEqual([503, '1'])
    expect(text).toContain('Its log says why')
    expect(text).toContain('"reason":"store_down"')
  }
  expect(said()).toContain('Give all replicas the same keys')
})

test('a client gets the answers to its calls although half of its requests reach a replica with other keys', async () => {
  const { urls, handlers } = await replicasWith([OLD], [NEW])
  // The session begins at the right one. From then on every second request goes to the wrong one.
  const [first, second] = handlers as [HttpHandler, HttpHandler]
  const right = first.node
  let [isMixed, count] = [false, 0]
  first.node = (request, response) => (isMixed && count++ % 2 === 1 ? second.node : right)(request, response)
  const client = await connect(urls[0] as string, {
    revisions: ['2025-11-25'],
    answer: { elicit: () => ({ action: 'accept', content: { name: 'Ada' } }) },
  })
  isMixed = true
  expect(await client.call('name', {}, { timeoutMs: 15_000 })).toMatchObject({ content: [{ text: 'Hello Ada' }] })
  await client.close()
}, 20_000)

test('a replica with other keys leaves the calls of a dead one to a replica that can answer them', async () => {
  const { urls, stores, kill } = await replicasWithLease(LONG_LEASE_MS, [OLD], [OLD], [NEW])
  // The wrong one finds the dead one first.
  const right = (stores[1] as SharedStore).replica
  const { claimDead } = right
  let mayClaim = false
  right.claimDead = async () => (mayClaim ? claimDead.call(right) : undefined)
  const session = await openSession(urls[0] as string, '2025-11-25')
  const stream = await session.askStream({ ...callTool('work', {}, WATCHED), id: 1 })
  await stream.message()
  await kill(0)
  await until(() => said().includes('left to others'))
  mayClaim = true
  await stream.ended
  const resumed = await at(urls[1], session).listen(stream.events.findLast(({ data }) => data)?.id)
  expect((await resumed.messages()).at(-1)).toMatchObject({ id: 1, error: { data: { reason: 'replica_lost' } } })
})

test('a stream that no replica can take over ends after another lease', async () => {
  const { urls, kill, stores } = await replicasWith([NEW, OLD], [OLD])
  const session = await openSession(urls[1] as string, '2025-11-25')
  const stream = await at(urls[0], session).askStream({ ...callTool('wait', {}, WATCHED), id: 1 })
  await stream.message()
  const killed = (stores[0] as SharedStore).replica
  killed.claimDead = async () => undefined
  await kill(0)
  await stream.ended
  const lastEventId = stream.events.findLast(({ data }) => data)?.id
  const other = at(urls[1], session)
  const reader = await other.listen(lastEventId)
  expect(reader.status).toBe(200)
  // No replica knows the id of the request, so there is no answer: only the end, for this client and for one that comes later.
  expect(await reader.messages()).toEqual([])
  expect(await reader.ended).toBe('end')
  expect(said()).toContain('cannot be run again')
  expect((await other.listen(lastEventId)).status).toBe(204)
  expect((await other.ask({ ...callTool('hi'), id: 2 })).status).toBe(200)
})

test('a question ends with an error if the replica that asked cannot open the answer', async () => {
  const { urls } = await replicasWith([OLD], [NEW, OLD])
  const session = await openSession(urls[0] as string, '2025-11-25', ELICITS)
  const stream = await session.askStream({ ...callTool('name'), id: 1 })
  const { id } = await stream.message()
  expect((await at(urls[1], session).post(answerTo(id))).status).toBe(202)
  expect(await stream.messages()).toMatchObject([
    { id: 1, error: { message: expect.stringContaining('cannot read your answer'), data: { reason: 'store_down', retryable: true } } },
  ])
  expect((await session.ask(callTool('hi'))).status).toBe(200)
})

test('a client that reads where an event cannot be opened is sent away, and gets the rest elsewhere', async () => {
  const { urls } = await replicasWith([OLD], [NEW, OLD])
  const session = await openSession(urls[0] as string, '2025-11-25', ELICITS)
  const other = at(urls[1], session)
  const stream = await other.askStream({ ...callTool('name'), id: 1 })
  const { id } = await stream.message()
  const lastEventId = stream.events.findLast(({ data }) => data)?.id
  const reader = await session.listen(lastEventId)
  expect(reader.status).toBe(200)
  await other.post(answerTo(id))
  expect(await reader.messages()).toEqual([])
  expect((await session.listen(lastEventId)).status).toBe(503)
  expect(await (await other.listen(lastEventId)).messages()).toMatchObject([{ id: 1, result: { content: [{ text: 'Hello Ada' }] } }])
})

test('many notices of a replica with other keys do not keep a client with a position from a later one', async () => {
  const { urls, servers } = await replicasWith([OLD], [NEW])
  for (const each of servers) each.resource('note://{id}', { name: 'note' }, ({ id }) => id)
  const session = await openSession(urls[0] as string, '2025-11-25')
  const changed = async (replica: number, uri: string): Promise<void> => servers[replica]?.resourceChanged(uri)
  const uris = ['note://first', ...Array.from({ length: 70 }, (_, i) => `note://${i}`), 'note://last']
  for (const uri of uris) expect((await session.ask({ method: 'resources/subscribe', params: { uri } })).status).toBe(200)
  const before = await session.listen()
  await changed(0, 'note://first')
  await before.message()
  const position = before.events.findLast(({ data }) => data)?.id
  before.destroy()
  for (const uri of uris.slice(1, -1)) await changed(1, uri)
  const { cli } = await server()
  const log = (await cli('--scan', '--pattern', `*{${storedName(session)}}:log:0`)).trim()
  await until(async () => (await cli('LLEN', log)) === '71')
  await changed(0, 'note://last')
  await until(async () => (await cli('LLEN', log)) === '72')
  const resumed = await session.listen(position)
  expect(await resumed.message()).toMatchObject({ params: { uri: 'note://last' } })
  for (const uri of uris.slice(1, -1)) await changed(1, uri)
  await until(async () => (await cli('LLEN', log)) === '142')
  await changed(0, 'note://first')
  expect(await resumed.message()).toMatchObject({ params: { uri: 'note://first' } })
})

test('a client hears of a change although a replica with other keys told it first', async () => {
  const { urls, servers } = await replicasWith([OLD], [NEW])
  const session = await openSession(urls[0] as string, '2025-11-25')
  const { cli } = await server()
  const length = async (): Promise<string> => cli('LLEN', (await cli('--scan', '--pattern', `*{${storedName(session)}}:log:0`)).trim())
  servers[1]?.tool('more', {}, () => 'more')
  await until(async () => (await length()) === '1')
  servers[0]?.tool('more', {}, () => 'more')
  await until(async () => (await length()) === '2')
  expect(await (await session.listen()).message()).toMatchObject({ method: 'notifications/tools/list_changed' })
})

test('a replica that cannot open an event of a stream does not stay its reader', async () => {
  const { urls } = await replicasWith([OLD], [NEW, OLD])
  const session = await openSession(urls[0] as string, '2025-11-25', ELICITS)
  const stream = await at(urls[1], session).askStream({ ...callTool('name'), id: 1 })
  await stream.message()
  expect((await session.listen(stream.events[0]?.id)).status).toBe(503)
  const { cli } = await server()
  const kept = (await cli('--scan', '--pattern', `*{${storedName(session)}}:stream:*`)).trim()
  expect(await cli('HMGET', kept, 'reader', 'number')).toBe('')
})

test('a notice of a replica with other keys does not keep clients from the notices of the rest', async () => {
  const { urls, servers } = await replicasWith([OLD], [NEW])
  const session = await openSession(urls[0] as string, '2025-11-25')
  const standing = await session.listen()
  ;(servers[1] as Server).tool('more', {}, () => 'more')
  await until(() => said().includes('a notice of another replica cannot be read'))
  ;(servers[0] as Server).tool('more', {}, () => 'more')
  expect(await standing.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
})

test('a session whose secret was removed is gone for replicas with the right keys', async () => {
  const { urls } = await replicasWith([OLD], [NEW, OLD], [NEW])
  const session = await openSession(urls[0] as string, '2025-11-25')
  // It seals the secret of all ids with the new key.
  const newer = await openSession(urls[1] as string, '2025-11-25')
  const removed = at(urls[2], session)
  expect((await removed.ask(callTool('hi'))).status).toBe(404)
  expect((await removed.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(404)
  expect((await removed.listen()).status).toBe(404)
  expect(said()).toContain('was sealed with a key that this replica does not have')
  expect((await at(urls[2], newer).ask(callTool('hi'))).status).toBe(200)
})
