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
  const short = `file:///${randomId()}`
  await a.topics.add(short, 'x', 150)
  await a.topics.add(short, 'y', 60_000)
  await pause(250)
  expectEqual('members after one has expired', [await membersOf(a, short), await a.topics.size(short)], [['y'], 1])
}

const limitsRates: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const key = randomId()
  const rate = { perSecond: 1, burst: 4 }
  const waits = await Promise.all([a, b, a, b, a, b].map((store) => store.counters.take(key, rate)))
  expectEqual('tokens of a burst of 4', waits.filter((wait) => wait === 0).length, 4)
  const wait = Math.max(...waits)
  expectTrue(`the wait for the next token: 1 to 1,000 ms, got ${wait}`, wait >= 1 && wait <= 1000)
  await pause(wait + 20)
  expectEqual('a token after the wait', await b.counters.take(key, rate), 0)
  expectEqual('another key', await a.counters.take(`${key}2`, rate), 0)
}

const marksOnce: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const key = randomId()
  const firsts = await Promise.all([a, b, a, b].map((store) => store.counters.first(key, 150)))
  expectEqual('callers that were first', firsts.filter(Boolean).length, 1)
  await pause(250)
  expectEqual('first after the time', await b.counters.first(key, 60_000), true)
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
  await a.counters.lock(key, 150)
  await pause(250)
  expectTrue('a lock after its time', (await b.counters.lock(key, 60_000)) !== undefined)
}

const keepsValues: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const key = randomId()
  expectEqual('a value that is not kept', await a.counters.kept(key), undefined)
  const kept = await Promise.all([a.counters.keep(key, 'ä\0', 60_000), b.counters.keep(key, 'other', 60_000)])
  expectTrue('both get the same value', kept[0] === kept[1] && (kept[0] === 'ä\0' || kept[0] === 'other'))
  expectEqual('the kept value', await b.counters.kept(key), kept[0])
  await a.counters.keep(`${key}2`, 'x', 150)
  await pause(250)
  expectEqual('a value after its time', await b.counters.kept(`${key}2`), undefined)
}

export const valueChecks: StoreCheck[] = [keepsTopics, limitsRates, marksOnce, locks, keepsValues]
