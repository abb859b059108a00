/** The store in memory keeps the rules of every store. */

import { expect, test, vi } from 'vitest'
import { memoryStore, type SharedStore } from '../../src/store/index.ts'
import { checkStore } from '../../src/testing/index.ts'

test('the store in memory keeps the rules of every store', async () => {
  const store = memoryStore()
  await checkStore(() => store.another())
})

test('the check of a store names all members that are missing', async () => {
  const { topics, health } = memoryStore()
  const close = vi.fn(async () => {})
  const check = (store: object | undefined) => checkStore(() => store as SharedStore)
  await expect(check({ topics, health })).rejects.toThrow('the store has no sessions, streams, replica, counters, close()')
  await expect(check({ ...memoryStore(), counters: null, close })).rejects.toThrow('the store has no counters')
  expect(close).toHaveBeenCalledTimes(1)
  await expect(check(undefined)).rejects.toThrow('checkStore() needs a function that returns a store')
})

test('a full store in memory refuses one session more, and names the limit', async () => {
  const { sessions } = memoryStore({ maxSessions: 2 })
  const life = { ttlMs: 40, maxAgeMs: 1000 }
  await sessions.create('a', '{}', life)
  await sessions.create('b', '{}', life)
  await expect(sessions.create('c', '{}', life)).rejects.toThrow('The store in memory is full: 2 sessions')
  await new Promise((resolve) => setTimeout(resolve, 60))
  await sessions.create('c', '{}', life)
})

test('a full store in memory refuses one topic, one member and one mark more', async () => {
  const { topics, counters } = memoryStore({ maxKeys: 2 })
  await topics.add('x', 'a', 1000)
  await topics.add('y', 'a', 1000)
  await expect(topics.add('z', 'a', 1000)).rejects.toThrow('The store in memory is full')
  await topics.add('x', 'b', 1000)
  await expect(topics.add('x', 'c', 1000)).rejects.toThrow('The store in memory is full: 2 members of topics')
  // Subscriptions do not take the room of other topics.
  for (const uri of ['a', 'b']) await topics.add(`resource ${uri}`, 's', 1000)
  await expect(topics.add('resource c', 's', 1000)).rejects.toThrow('The store in memory is full')
  await topics.add('caller address x', 's', 1000)
  await topics.remove('y', 'a')
  await topics.add('z', 'a', 1000)
  await counters.first('1', 1000)
  await counters.first('2', 1000)
  await expect(counters.first('3', 1000)).rejects.toThrow('The store in memory is full: 2 marks')
})

test('the events of all sessions of a store in memory have one limit', async () => {
  const { sessions, streams } = memoryStore({ maxKeptBytes: 100_000 })
  const bounds = { maxEvents: 100, maxBytes: 50_000, maxSessionBytes: 50_000, endedTtlMs: 60_000, maxEnded: 16 }
  const keep = async (sid: string, text: string): Promise<void> => {
    await sessions.create(sid, '{}', { ttlMs: 60_000, maxAgeMs: 60_000 })
    const epoch = (await streams.open(sid, 'r1', '{}')) as number
    await streams.append(sid, 'r1', { n: 1, epoch, events: [{ json: JSON.stringify(text) }], isLast: true }, bounds)
  }
  await keep('small', 'x'.repeat(1000))
  for (let at = 0; at < 10; at++) await keep(`large ${at}`, 'x'.repeat(40_000))
  const kept = await Promise.all(Array.from({ length: 10 }, (_, at) => streams.attach(`large ${at}`, 'r1', '', 1)))
  expect(kept.filter((each) => each !== 'gone').length).toBe(2)
  expect(await streams.attach('small', 'r1', '', 1)).toMatchObject({ isOver: true })
})

/** The sizes of the events that a session keeps, in thousands of characters, after a position. */
async function keptIn({ streams }: SharedStore, sid: string, stream: string, after?: string): Promise<number[] | string> {
  const read = await streams.attach(sid, stream, after, 100)
  return typeof read === 'string' ? read : read.events.map(({ json }) => Math.round(json.length / 1000))
}

const large = (size: number) => ({ json: JSON.stringify('x'.repeat(size)) })
const LIFE = { ttlMs: 60_000, maxAgeMs: 60_000 }

test('a session that grows loses nothing for another one that keeps more', async () => {
  const store = memoryStore({ maxKeptBytes: 100_000 })
  const { sessions, streams } = store
  const bounds = { maxEvents: 100, maxBytes: 50_000, maxSessionBytes: 50_000, endedTtlMs: 60_000, maxEnded: 16 }
  const begin = async (sid: string, ...sizes: number[]) => {
    await sessions.create(sid, '{}', LIFE)
    const epoch = (await streams.open(sid, 'r1', '{}')) as number
    await streams.append(sid, 'r1', { n: 1, epoch, events: sizes.map(large) }, bounds)
    return epoch
  }
  await begin('large', 40_000, 8000)
  await begin('second', 40_000)
  const epoch = await begin('small', 2000, 2000)
  await streams.append('small', 'r1', { n: 2, epoch, events: [large(6500)] }, bounds)
  expect(await keptIn(store, 'large', 'r1', '')).toBe('lost')
  expect(await keptIn(store, 'small', 'r1', '')).toEqual([2, 2, 7])
})

test('changes that no client has heard of are the last events that sessions lose', async () => {
  const store = memoryStore({ maxKeptBytes: 100_000 })
  const bounds = { maxEvents: 1000, maxBytes: 1e6, maxSessionBytes: 1e6, endedTtlMs: 60_000, maxEnded: 16 }
  const changes = (from: number) => Array.from({ length: 9 }, (_, at) => ({ ...large(5000), coalesce: `resource ${from + at}` }))
  await store.sessions.create('s', '{}', LIFE)
  await store.streams.append('s', '0', { n: 1, events: changes(0) }, bounds)
  await store.streams.append('s', '0', { n: 2, events: [large(60_000)] }, bounds)
  expect(await keptIn(store, 's', '0')).toEqual(Array(9).fill(5))
  await store.sessions.create('t', '{}', LIFE)
  for (const n of [1, 2, 3, 4]) await store.streams.append('t', '0', { n, events: changes(n * 9) }, bounds)
  expect((await keptIn(store, 't', '0'))?.length).toBeLessThan(20)
})
