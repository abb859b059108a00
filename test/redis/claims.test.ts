/** What replicas claim, leave to others, and leave behind. */

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { McpError } from '../../src/protocol/errors.ts'
import type { KeyRing } from '../../src/protocol/interfaces/replaceable-services.ts'
import { Connection } from '../../src/redis/connection.ts'
import { type RedisOptions, type RedisStore, redis } from '../../src/redis/index.ts'
import type { RedisReplica } from '../../src/redis/replica.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { tcpProxy } from './tcp-proxy.ts'

const server = redisOfFile()
const LIFE = { ttlMs: 60_000, maxAgeMs: 60_000 }

const opened: RedisStore[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

function openStore(url: string, options: RedisOptions): RedisStore {
  const store = redis(url, { leaseMs: 60_000, ...options })
  opened.push(store)
  return store
}

function ring(id: string): KeyRing {
  const key = { id, secret: randomBytes(32) }
  return { current: () => key, find: (asked) => (asked === id ? key : undefined) }
}

/** A stream of a replica that has left, and a replica with other keys that has claimed it. */
async function claimed(url: string, foreignUrl: string, prefix: string) {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const owner = openStore(url, { prefix, keys: ring('a') })
  await owner.sessions.create('s', '{}', LIFE)
  await owner.streams.open('s', 'r1', '{}')
  const { id } = owner.replica
  await owner.close()
  const foreign = openStore(foreignUrl, { prefix, keys: ring('b') })
  expect(await foreign.replica.claimDead()).toMatchObject({ replica: id })
  return { foreign, claim: `${prefix}{replica:${id}}:claim`, takeOver: () => foreign.streams.takeOver('s', 'r1', id) }
}

test('a claim that could not be given up is given up at the next attempt', async () => {
  const { url, cli } = await server()
  await cli('ACL', 'SETUSER', 'weak', 'on', '>weak', '~*', '+@all', '-del')
  const { foreign, claim, takeOver } = await claimed(url, url.replace('//', '//weak:weak@'), 'refused:')
  await expect(takeOver()).rejects.toThrow('Redis refused a command')
  expect(await cli('GET', claim)).toBe(foreign.replica.id)
  await cli('ACL', 'SETUSER', 'weak', '+del')
  expect(await takeOver()).toBeUndefined()
  expect(await cli('EXISTS', claim)).toBe('0')
  expect(await foreign.replica.claimDead()).toBeUndefined()
})

test('a claim that another replica has taken in the meantime is left alone', async () => {
  const { url, cli } = await server()
  const { claim, takeOver } = await claimed(url, url, 'taken:')
  await cli('SET', claim, 'another', 'PX', '60000')
  expect(await takeOver()).toBeUndefined()
  expect(await cli('GET', claim)).toBe('another')
})

test('a replica that leaves a Redis that lost its data leaves nothing that stays for ever', async () => {
  const { url, cli } = await server()
  const store = openStore(url, { prefix: 'lost:' })
  await store.sessions.create('s', '{}', LIFE)
  await store.streams.open('s', 'r1', '{}')
  await cli('DEL', 'lost:replicas')
  await store.close()
  expect(Number(await cli('PTTL', 'lost:replicas'))).toBeGreaterThan(0)
})

/** A replica that loses its lease as soon as it has noted a stream. It then has another name. */
function openLosing(url: string, prefix: string): RedisStore {
  const store = openStore(url, { prefix })
  const replica = store.replica as RedisReplica
  const { noteRun } = replica
  vi.spyOn(replica, 'noteRun').mockImplementation(async (...args) => {
    await noteRun.apply(replica, args)
    await replica.leave()
    await replica.join()
  })
  return store
}

const LEASE_ENDED = { code: 'ERR_STORE_DOWN', message: 'The lease of this replica has ended' }

test('a replica that loses its lease during a takeover leaves the stream where others find it', async () => {
  const { url } = await server()
  const prefix = 'losing:'
  const owner = openStore(url, { prefix })
  await owner.sessions.create('s', '{}', LIFE)
  await owner.streams.open('s', 'r1', '{}')
  const from = owner.replica.id
  await owner.close()
  const losing = openLosing(url, prefix)
  await losing.replica.join()
  const { id } = losing.replica
  await expect(losing.streams.takeOver('s', 'r1', from)).rejects.toMatchObject(LEASE_ENDED)
  const other = openStore(url, { prefix })
  let dead = await other.replica.claimDead()
  if (dead?.replica === from) dead = await other.replica.claimDead()
  expect(dead).toEqual({ replica: id, streams: [{ sid: 's', stream: 'r1' }] })
  expect(await other.streams.takeOver('s', 'r1', id)).toMatchObject({ call: '{}' })
})

test('a replica that loses its lease while it opens a stream does not run the request', async () => {
  const { url } = await server()
  const losing = openLosing(url, 'opening:')
  await losing.sessions.create('s', '{}', LIFE)
  await expect(losing.streams.open('s', 'r1', '{}')).rejects.toMatchObject(LEASE_ENDED)
})

test('a replica lives until its own lease ends, however long those of the others are', async () => {
  const { url, port } = await server()
  const prefix = 'lengths:'
  const proxy = await tcpProxy(port)
  const [long, short] = [openStore(url, { prefix }), openStore(`redis://127.0.0.1:${proxy.port}`, { prefix, leaseMs: 400 })]
  await long.sessions.create('s', '{}', LIFE)
  await long.sessions.enter('s', '1', 1)
  await short.streams.open('s', 'r1', '{}')
  const { id } = short.replica
  await sleep(800)
  expect(await short.sessions.enter('s', '1', 1), 'the request of a replica that renews its lease rarely').toBe('duplicate')
  expect(await long.replica.claimDead()).toBeUndefined()
  proxy.hang('both')
  await expect.poll(() => long.replica.claimDead()).toEqual({ replica: id, streams: [{ sid: 's', stream: 'r1' }] })
  await proxy.close()
})

/** A replica that has left a stream, and others. No reply to a takeover arrives until `hear` is called. */
async function unheardTakeovers(prefix: string) {
  const { url, cli } = await server()
  const [owner, first, second] = [openStore(url, { prefix }), openStore(url, { prefix }), openStore(url, { prefix })]
  await owner.sessions.create('s', '{}', LIFE)
  await owner.streams.open('s', 'r1', '"call"')
  const { id: from } = owner.replica
  await owner.close()
  // Redis knows the script from now on.
  expect(await first.streams.takeOver('s', 'r1', 'nobody')).toBeUndefined()
  const { run } = Connection.prototype
  const lossy = vi.spyOn(Connection.prototype, 'run').mockImplementation(async function (this: Connection, script, ...rest) {
    const reply = await run.call(this, script, ...rest)
    if (script.name === 'take-over') throw new McpError('ERR_STORE_DOWN', 'The reply was lost')
    return reply
  })
  const left = { replica: from, streams: [{ sid: 's', stream: 'r1' }] }
  return { first, second, cli, from, left, claim: `${prefix}{replica:${from}}:claim`, hear: () => lossy.mockRestore() }
}

test('a stream whose takeover got no reply is continued by one of two endpoints of a process', async () => {
  const { first, from, left, hear } = await unheardTakeovers('endpoints:')
  const both = async () => {
    const claimed = await Promise.all([first.replica.claimDead(), first.replica.claimDead()])
    expect(claimed).toEqual([left, left])
    return Promise.allSettled(claimed.map(() => first.streams.takeOver('s', 'r1', from)))
  }
  expect((await both()).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  hear()
  const taken = await both()
  expect(taken).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }])
  expect(taken.filter((each) => 'value' in each && each.value?.call === '"call"')).toHaveLength(1)
  expect(await first.replica.claimDead()).toBeUndefined()
})

test('a stream whose takeover got no reply is continued, also after another replica found nothing', async () => {
  const { first, second, cli, from, left, claim, hear } = await unheardTakeovers('late:')
  expect(await first.replica.claimDead()).toEqual(left)
  await expect(first.streams.takeOver('s', 'r1', from)).rejects.toThrow('The reply was lost')
  hear()
  // The claim has ended meanwhile.
  await cli('DEL', claim)
  expect(await second.replica.claimDead()).toEqual(left)
  expect(await second.streams.takeOver('s', 'r1', from)).toBeUndefined()
  expect(await second.replica.claimDead()).toBeUndefined()
  expect(await first.replica.claimDead()).toEqual(left)
  expect(await first.streams.takeOver('s', 'r1', from)).toMatchObject({ call: '"call"' })
  expect(await first.replica.claimDead()).toBeUndefined()
})
