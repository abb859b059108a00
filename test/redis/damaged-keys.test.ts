/** Keys that somebody else has written: they must not stop what has nothing to do with them. */

import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest'
import { isOfDamage } from '../../src/redis/client-library.ts'
import { type RedisOptions, type RedisStore, redis } from '../../src/redis/index.ts'
import { redisOfFile, startRedis } from '../support/redis-server.ts'
import { LIFE } from './appending.ts'
import { taskOf } from './every-kind.ts'

const server = redisOfFile()

const opened: RedisStore[] = []
let log: MockInstance<typeof console.error>
beforeEach(() => {
  log = vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

const said = (): string[] => log.mock.calls.map((words) => words.join(' '))

function openStore(url: string, options: RedisOptions): RedisStore {
  const store = redis(url, { leaseMs: 60_000, ...options })
  opened.push(store)
  return store
}

/** A replica that has left, with a request in each of these sessions. */
async function left(url: string, prefix: string, sids: readonly string[]): Promise<string> {
  const owner = openStore(url, { prefix })
  for (const sid of sids) {
    await owner.sessions.create(sid, '{}', LIFE)
    await owner.streams.open(sid, 'r1', '{}')
  }
  const { id } = owner.replica
  await owner.close()
  return id
}

/** Takes everything over, as long as there is something. */
async function takeAll(store: RedisStore): Promise<string[]> {
  const taken: string[] = []
  for (let claims = 0; ; claims++) {
    const dead = await store.replica.claimDead()
    if (!dead) return taken.sort()
    if (claims > 10) throw new Error('The same requests are claimed again and again')
    for (const { sid, stream } of dead.streams) if (await store.streams.takeOver(sid, stream, dead.replica)) taken.push(sid)
  }
}

test('a stream of the wrong type does not keep other requests from being taken over', async () => {
  const { url, cli } = await server()
  const prefix = 'wrong-type:'
  await left(url, prefix, ['evil', 'a'])
  await left(url, prefix, ['b'])
  await cli('SET', `${prefix}{evil}:stream:r1`, 'x')
  expect(await takeAll(openStore(url, { prefix }))).toEqual(['a', 'b'])
  expect(said().filter((line) => line.includes('cannot be taken over: Redis refused a command: WRONGTYPE'))).toHaveLength(1)
})

test('a step that nobody can read does not keep other requests from being taken over', async () => {
  const { url, cli } = await server()
  const prefix = 'broken:'
  await left(url, prefix, ['evil', 'a'])
  await cli('HSET', `${prefix}{evil}:stream:r1`, 'j:x', 'no JSON')
  // Values without keys begin with a byte 0.
  await cli('EVAL', "return redis.call('HSET', KEYS[1], 'j:x', '\\0no JSON')", '1', `${prefix}{evil}:stream:r1`)
  const store = openStore(url, { prefix })
  expect(await takeAll(store)).toEqual(['a', 'evil'])
})

test('a replica whose list of requests has the wrong type does not keep others from being taken over', async () => {
  const { url, cli } = await server()
  const prefix = 'runs:'
  const evil = await left(url, prefix, ['evil'])
  await left(url, prefix, ['a'])
  await cli('SET', `${prefix}{replica:${evil}}:runs`, 'x')
  const store = openStore(url, { prefix })
  expect(await takeAll(store)).toEqual(['a'])
  expect(await takeAll(store)).toEqual([])
  expect(said().filter((line) => line.includes('WRONGTYPE'))).toHaveLength(1)
})

test('what a dead replica left stays while Redis refuses a command that takes it over', async () => {
  const refusing = await startRedis(['--rename-command', 'SRANDMEMBER', ''])
  const owner = await left(refusing.url, 'portico:', ['a'])
  const store = openStore(refusing.url, {})
  await expect(store.replica.claimDead()).rejects.toMatchObject({ code: 'ERR_STORE_DOWN', message: expect.stringContaining('refused') })
  expect(store.health()).toContain('Unknown Redis command called from script')
  expect(await refusing.cli('ZRANGE', 'portico:replicas', '0', '-1')).toContain(owner)
  expect(await refusing.cli('EXISTS', `portico:{replica:${owner}}:runs`)).toBe('1')
  await store.close()
  await refusing.close()
})

test('of what Redis replies, only what damage causes counts as damage', () => {
  const at = 'script: 3ed711dd85b2a69a4da9918b229434e828a32806, on @user_script:1.'
  const inScript6 = 'ERR Error running script (call to f_3ed711dd85b2a69a4da9918b229434e828a32806): @user_script:4: '
  const ofDamage = [
    'WRONGTYPE Operation against a key holding the wrong kind of value',
    `WRONGTYPE Operation against a key holding the wrong kind of value ${at}`,
    `${inScript6}WRONGTYPE Operation against a key holding the wrong kind of value`,
    `ERR hash value is not an integer ${at}`,
    'ERR value is not an integer or out of range',
    `ERR value is not a valid float ${at}`,
    `ERR increment or decrement would overflow ${at}`,
    `ERR user_script:17: attempt to compare nil with number ${at}`,
    `${inScript6}user_script:4: attempt to perform arithmetic on a nil value`,
  ]
  const others = [
    `ERR Script killed by user with SCRIPT KILL... ${at}`,
    `${inScript6}Script killed by user with SCRIPT KILL...`,
    `ERR Unknown Redis command called from script ${at}`,
    'ERR syntax error',
    'ERR max number of clients reached',
    'CROSSSLOT Keys in request do not hash to the same slot',
  ]
  expect([...ofDamage, ...others].filter((message) => isOfDamage(new Error(message)))).toEqual(ofDamage)
})

const BROKEN: [string, string[]][] = [
  ['of the wrong type', ['SET', 'KEY', 'x']],
  ['without JSON', ['EVAL', "return redis.call('HSET', KEYS[1], 'until', '1', 'head', '\\0no JSON')", '1', 'KEY']],
  ['that is another value', ['EVAL', "return redis.call('HSET', KEYS[1], 'until', '1', 'head', '\\0null')", '1', 'KEY']],
  ['without the end of its lease', ['EVAL', `return redis.call('HSET', KEYS[1], 'head', '\\0{"lease":{}}')`, '1', 'KEY']],
  ['without a record', ['HSET', 'KEY', 'x', 'y']],
]

test.each(BROKEN)('a task %s does not stop the others', async (kind, command) => {
  const { url, cli } = await server()
  const prefix = `task ${kind.length}:`
  const { tasks } = openStore(url, { prefix })
  const task = { ...taskOf('ada'), ttlMs: 60_000, lease: { holder: 'x', epoch: 1, until: Date.now() - 1000 } }
  await tasks.create(task, { perAccount: 10, total: 10 })
  const [owner = ''] = (await cli('ZRANGE', `${prefix}tasks`, '0', '-1')).split(' ')
  const evil = `${prefix}{tasks:${owner}}:evil`
  await cli(...command.map((word) => (word === 'KEY' ? evil : word)))
  await cli('ZADD', `${prefix}tasks`, '1', `${owner} evil`)
  await cli('ZADD', `${prefix}{tasks:${owner}}`, '1', 'evil')
  expect(await tasks.neglected(Date.now())).toMatchObject([{ taskId: task.taskId }])
  expect(await tasks.list('ada')).toMatchObject([{ taskId: task.taskId }])
  // It is not among those that need attention any more.
  expect(await cli('ZCARD', `${prefix}tasks`)).toBe('1')
})
