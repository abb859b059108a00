/** Topics in Redis: their members are read in pages, and all are found also if another node goes on. */

import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { type RedisStore, redis } from '../../src/redis/index.ts'
import { keysWith } from '../../src/redis/keys.ts'
import { type RedisServer, redisOfFile } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const MEMBERS = Array.from({ length: 3500 }, (_, at) => `s${at}`).sort()
const LIFE = 60_000

const primary = redisOfFile(['--repl-diskless-sync-delay', '0'])
const secondary = redisOfFile()

const opened: RedisStore[] = []
afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())))

function openStore({ url }: RedisServer): RedisStore {
  const store = redis(url)
  opened.push(store)
  return store
}

/** Only 1,000 calls may wait for the first connection. */
async function addAll(store: RedisStore, topic: string): Promise<void> {
  for (let at = 0; at < MEMBERS.length; at += 500) {
    await Promise.all(MEMBERS.slice(at, at + 500).map((member) => store.topics.add(topic, member, LIFE)))
  }
}

async function restOf(store: RedisStore, topic: string, from: string | undefined): Promise<string[]> {
  const members: string[] = []
  for (let cursor = from; cursor !== undefined; ) {
    const page = await store.topics.page(topic, cursor)
    members.push(...page.members)
    cursor = page.next
  }
  return members
}

test('a list that began at one node goes on at its replica after a failover', async () => {
  const [a, b] = [await primary(), await secondary()]
  await b.cli('REPLICAOF', '127.0.0.1', String(a.port))
  const [before, after] = [openStore(a), openStore(b)]
  await addAll(before, 'moved')
  await until(async () => (await b.cli('ZCARD', keysWith('portico:').topic('moved'))) === String(MEMBERS.length))
  const first = await before.topics.page('moved')
  await a.stop('SIGKILL')
  await b.cli('REPLICAOF', 'NO', 'ONE')
  expect(first.members.length).toBeGreaterThanOrEqual(1000)
  expect([...first.members, ...(await restOf(after, 'moved', first.next))].sort()).toEqual(MEMBERS)
  await a.start()
})

test('a member that is renewed while the list is read is still on a page', async () => {
  const store = openStore(await primary())
  await addAll(store, 'renewed')
  const found = new Set<string>()
  let cursor: string | undefined
  let pages = 0
  do {
    const page = await store.topics.page('renewed', cursor)
    for (const member of page.members) found.add(member)
    cursor = page.next
    // A shorter life is what a renewal looks like after a failover has set the time back.
    await Promise.all(MEMBERS.filter((_, at) => at % 7 === pages % 7).map((member) => store.topics.add('renewed', member, LIFE)))
    await Promise.all(MEMBERS.filter((_, at) => at % 11 === pages % 11).map((member) => store.topics.add('renewed', member, 10)))
    await sleep(20)
    pages++
  } while (cursor !== undefined && pages < 50)
  expect([...found].sort()).toEqual(MEMBERS)
})

test('members that expire in the same millisecond are on one page', async () => {
  const server = await primary()
  const store = openStore(server)
  const expiry = String(Date.now() + LIFE)
  await server.cli('ZADD', keysWith('portico:').topic('same'), ...MEMBERS.flatMap((member) => [expiry, member]))
  await store.topics.add('same', 'later', 2 * LIFE)
  const first = await store.topics.page('same')
  expect([...first.members].sort()).toEqual(MEMBERS)
  expect(await restOf(store, 'same', first.next)).toEqual(['later'])
})

test('members that have expired leave Redis also if their topic is never counted', async () => {
  const { cli } = await primary()
  const store = openStore(await primary())
  await store.topics.add('left', 'first', LIFE)
  for (let at = 0; at < 30; at++) await store.topics.add('left', `short ${at}`, 50)
  await sleep(100)
  for (let at = 0; at < 5; at++) await store.topics.add('left', `long ${at}`, LIFE)
  expect(await cli('ZCARD', keysWith('portico:').topic('left'))).toBe('6')
})
