/** The rules of topics and counters. */

import { randomId } from '../../base/bytes.ts'
import type { SharedStore } from '../../store/shared-store.ts'
import { expectEqual, expectTrue, pause, type StoreCheck } from './expect.ts'

async function membersOf(store: SharedStore, topic: string): Promise<string[]> {
  const members = new Set<string>()
  let cursor: string | undefined
  do {
    const page = await store.topics.page(topic, cursor)
    for (const member of page.members) members.add(member)
    cursor = page.next
  } while (cursor !== undefined)
  return [...members].sort()
}

const keepsTopics: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const topic = `file:///${randomId()}`
  expectEqual('an unknown topic', [await membersOf(a, topic), await a.topics.size(topic)], [[], 0])
  const members = Array.from({ length: 2500 }, (_, at) => `s${at}`).sort()
  await Promise.all(members.map((member) => a.topics.add(topic, member, 60_000)))
  expectEqual('members at another replica', await membersOf(b, topic), members)
  await b.topics.remove(topic, 's7')
  await b.topics.remove(topic, 'unknown')
  expectEqual('size after remove', await a.topics.size(topic), 2499)
  const some = await b.topics.sample(topic, 16)
  expectTrue('16 different members', new Set(some).size === 16 && some.every((member) => members.includes(member)))
  expectEqual('a sample of an unknown topic', await a.topics.sample(randomId(), 16), [])
  const short = `file:///${randomId()}`
  await a.topics.add(short, 'x', 150)
  await a.topics.add(short, 'y', 150)
  await b.topics.add(short, 'y', 60_000)
  expectEqual('a sample of fewer members', (await b.topics.sample(short, 16)).sort(), ['x', 'y'])
  await pause(250)
  expectEqual('members after one has expired', [await membersOf(a, short), await a.topics.size(short)], [['y'], 1])
}

const limitsRates: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const key = randomId()
  const rate = { perSecond: 1, burst: 4 }
  const taken = await Promise.all([a, b, a, b, a, b].map((store) => store.counters.take(key, rate)))
  expectEqual('tokens of a burst of 4', taken.map(({ tokens }) => tokens).filter((tokens) => tokens === 1).length, 4)
  const wait = Math.max(...taken.map(({ waitMs }) => waitMs))
  expectTrue(`the wait for the next token: 1 to 1,000 ms, got ${wait}`, wait >= 1 && wait <= 1000)
  await pause(wait + 20)
  expectEqual('a token after the wait', await b.counters.take(key, rate), { tokens: 1, waitMs: 0 })
  expectEqual('another key', await a.counters.take(`${key}2`, rate), { tokens: 1, waitMs: 0 })
}

const takesSeveralTokens: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const key = randomId()
  const rate = { perSecond: 0.001, burst: 10 }
  expectEqual('up to 4 tokens of 10', await a.counters.take(key, rate, 1, 4), { tokens: 4, waitMs: 0 })
  expectEqual('exactly 3 tokens of 6', await b.counters.take(key, rate, 3), { tokens: 3, waitMs: 0 })
  const { tokens, waitMs } = await a.counters.take(key, rate, 4, 8)
  expectEqual('4 tokens of 3', tokens, 0)
  expectTrue(`the wait for one more token: about 1,000,000 ms, got ${waitMs}`, waitMs > 900_000 && waitMs <= 1_000_000)
  expectEqual('2 to 8 tokens of 3', await b.counters.take(key, rate, 2, 8), { tokens: 3, waitMs: 0 })
}

const countsPlaces: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const key = randomId()
  expectEqual('3 places of 5', await a.counters.hold(key, 'a', 3, 5, 60_000), 3)
  expectEqual('4 places while another has 3 of 5', await b.counters.hold(key, 'b', 4, 5, 60_000), 2)
  expectEqual('no more places than there are', await a.counters.hold(key, 'a', 4, 5, 60_000), 3)
  expectEqual('the same number again', await a.counters.hold(key, 'a', 3, 5, 60_000), 3)
  expectEqual('a smaller maximum takes nothing away', await a.counters.hold(key, 'a', 3, 4, 60_000), 3)
  expectEqual('fewer places', await a.counters.hold(key, 'a', 1, 5, 60_000), 1)
  expectEqual('places that another gave back', await b.counters.hold(key, 'b', 9, 5, 60_000), 4)
  expectEqual('no places', await b.counters.hold(key, 'b', 0, 5, 60_000), 0)
  expectEqual('another key', await b.counters.hold(`${key}2`, 'b', 5, 5, 150), 5)
  await pause(250)
  expectEqual('places of a holder whose time is over', await a.counters.hold(`${key}2`, 'a', 5, 5, 60_000), 5)
}

const marksOnce: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const key = randomId()
  // A store that connects on its first use may take longer than a short time.
  const firsts = await Promise.all([a, b, a, b].map((store) => store.counters.first(`${key}2`, 60_000)))
  expectEqual('callers that were first', firsts.filter(Boolean).length, 1)
  expectEqual('first of another key', await a.counters.first(key, 150), true)
  await pause(250)
  expectEqual('first after the time', await b.counters.first(key, 600), true)
  await pause(400)
  expectEqual('second within the time', await a.counters.first(key, 600), false)
  await pause(400)
  expectEqual('first after the time of the mark, which a second does not extend', await b.counters.first(key, 60_000), true)
}

const locks: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const key = randomId()
  const tokens = await Promise.all([a, b, a].map((store) => store.counters.lock(key, 60_000)))
  const [token] = tokens.filter((each) => each !== undefined)
  expectEqual('holders of a lock', tokens.filter(Boolean).length, 1)
  expectEqual('unlock with another token', await a.counters.unlock(key, 'x'), false)
  expectEqual('unlock', await b.counters.unlock(key, token ?? ''), true)
  expectEqual('unlock again', await b.counters.unlock(key, token ?? ''), false)
  const held = (await a.counters.lock(key, 600)) ?? ''
  await pause(400)
  expectEqual('a lock that is held', await b.counters.lock(key, 60_000), undefined)
  await pause(400)
  expectEqual('extend after its time', await a.counters.extend(key, held, 60_000), false)
  // Another process that waits must not keep the lock of one that died.
  const later = await b.counters.lock(key, 150)
  expectTrue('a lock after its time', later !== undefined)
  expectEqual('extend with another token', await a.counters.extend(key, held, 60_000), false)
  expectEqual('extend', await a.counters.extend(key, later ?? '', 60_000), true)
  await pause(250)
  expectEqual('an extended lock', await b.counters.lock(key, 60_000), undefined)
}

const keepsValues: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const key = randomId()
  expectEqual('a value that is not kept', await a.counters.kept(key), undefined)
  const kept = await Promise.all([a.counters.keep(key, 'ä\0', 60_000), b.counters.keep(key, 'other', 60_000)])
  expectTrue('both get the same value', kept[0] === kept[1] && (kept[0] === 'ä\0' || kept[0] === 'other'))
  expectEqual('the kept value', await b.counters.kept(key), kept[0])
  await b.counters.put(key, 'next', 60_000)
  expectEqual('a value that was replaced', await a.counters.kept(key), 'next')
  expectEqual('keep of a value that was replaced', await a.counters.keep(key, 'other', 60_000), 'next')
  await a.counters.forget(key)
  expectEqual('a value that was forgotten', await b.counters.kept(key), undefined)
  await a.counters.keep(`${key}2`, 'x', 150)
  await a.counters.put(`${key}3`, 'x', 150)
  await pause(250)
  expectEqual('a value after its time', [(await b.counters.kept(`${key}2`)) ?? '', (await b.counters.kept(`${key}3`)) ?? ''], ['', ''])
}

/** These wait for times to end, so they run together. */
const keepsCounters: StoreCheck = async (open, options) => {
  await Promise.all([limitsRates, takesSeveralTokens, countsPlaces, marksOnce, locks, keepsValues].map((check) => check(open, options)))
}

export const valueChecks: StoreCheck[] = [keepsTopics, keepsCounters]
