/** Places of callers at several replicas, and questions to the store that cross. */

import { expect, test } from 'vitest'
import { CallerUsage } from '../../../src/http/server/limits/caller-usage.ts'
import { type PlaceKind, SharedPlaces } from '../../../src/http/server/limits/shared-places.ts'
import { type ErrorCode, McpError } from '../../../src/protocol/errors.ts'
import type { Counters } from '../../../src/protocol/interfaces/counters.ts'
import { memoryCounters } from '../../../src/store/memory/counters.ts'

const TTL_MS = 10_000

function replicas(count: number, more: Partial<PlaceKind> = {}) {
  const clock = { now: 0, asked: 0 }
  const memory = memoryCounters(() => clock.now, 1000)
  const held: (() => void)[] = []
  let isSlow = false
  const asked: string[] = []
  let refused: { caller: string; code: ErrorCode } | undefined
  const counters: Counters = {
    ...memory,
    hold: async (...args) => {
      clock.asked++
      asked.push(args[0])
      if (refused && args[0].endsWith(refused.caller)) throw new McpError(refused.code, 'Refused')
      if (isSlow) await new Promise<void>((resolve) => held.push(resolve))
      return memory.hold(...args)
    },
  }
  const kind: PlaceKind = {
    limit: 'maxInFlightPerPrincipal',
    max: 8,
    what: 'requests at once',
    spare: 0,
    used: ({ inFlight }) => inFlight,
    ...more,
  }
  const all = Array.from({ length: count }, () => {
    const places = new SharedPlaces(kind, counters, TTL_MS, () => clock.now)
    const usage = new CallerUsage('principal', 'ada')
    /** Begins a request; false if it is refused. */
    const begin = async (): Promise<boolean> => {
      if (await places.enter(usage)) return false
      usage.inFlight++
      places.entered(usage)
      return true
    }
    return { places, usage, begin }
  })
  return {
    clock,
    all,
    slow: () => (isSlow = true),
    /** The store refuses questions about a caller. Returns all questions. */
    refuse: (caller: string, code: ErrorCode) => {
      refused = { caller, code }
      return asked
    },
    release: () => {
      isSlow = false
      for (const go of held.splice(0)) go()
    },
  }
}

test('requests that come together at several replicas get all places, and no more', async () => {
  const { all } = replicas(3)
  const begun = await Promise.all(Array.from({ length: 15 }, (_, i) => all[i % 3]?.begin()))
  expect(begun.filter(Boolean).length).toBe(8)
})

test('a request that comes while its caller gives its last place back is not refused', async () => {
  const { all, slow, release } = replicas(1)
  const [only] = all as [(typeof all)[0]]
  expect(await only.begin()).toBe(true)
  only.usage.inFlight = 0
  slow()
  const renewing = only.places.renew()
  const beginning = only.begin()
  release()
  await renewing
  expect(await beginning).toBe(true)
})

test('places in advance save questions, and are given back', async () => {
  const { all, clock } = replicas(2, { max: 64, spare: 4 })
  const [first, second] = all as [(typeof all)[0], (typeof all)[0]]
  for (let i = 0; i < 32; i++) expect(await first.begin()).toBe(true)
  expect(clock.asked).toBeLessThan(12)
  for (let i = 0; i < 28; i++) expect(await second.begin()).toBe(true)
  first.usage.inFlight = 0
  await first.places.renew()
  for (let i = 0; i < 36; i++) expect(await second.begin()).toBe(true)
  expect(await second.begin()).toBe(false)
})

test('places of a replica that died are free when their time is over, and its own are void', async () => {
  const { all, clock } = replicas(2)
  const [dead, living] = all as [(typeof all)[0], (typeof all)[0]]
  for (let i = 0; i < 8; i++) expect(await dead.begin()).toBe(true)
  expect(await living.begin()).toBe(false)
  clock.now = TTL_MS
  for (let i = 0; i < 8; i++) expect(await living.begin()).toBe(true)
  dead.usage.inFlight = 1
  expect(await dead.begin()).toBe(false)
})

test('what runs without a question holds places, also beyond the limit, and nothing more is let in', async () => {
  const { all } = replicas(2)
  const [busy, other] = all as [(typeof all)[0], (typeof all)[0]]
  for (let i = 0; i < 6; i++) expect(await other.begin()).toBe(true)
  busy.usage.inFlight = 4
  await busy.places.hold(busy.usage)
  expect([await busy.begin(), await other.begin()]).toEqual([false, false])
  other.usage.inFlight = 3
  await other.places.renew()
  expect([await busy.begin(), await busy.begin(), await other.begin()]).toEqual([true, false, false])
})

test('a caller whose places are damaged does not end those of the others, and is forgotten', async () => {
  const { all, clock, refuse } = replicas(2, { max: 1 })
  const [here, there] = all as [(typeof all)[0], (typeof all)[0]]
  const eve = new CallerUsage('principal', 'eve')
  expect(await here.places.enter(eve)).toBeUndefined()
  expect(await here.begin()).toBe(true)
  const asked = refuse('eve', 'ERR_STORE')
  clock.now = TTL_MS - 1
  await here.places.renew()
  clock.now = TTL_MS + 1
  expect(await there.begin()).toBe(false)
  here.places.entered(eve)
  await here.places.renew()
  asked.length = 0
  await here.places.renew()
  expect(asked).toEqual(['maxInFlightPerPrincipal ada'])
})

test('callers on a node that is away do not keep the others from being renewed', async () => {
  const { all, clock, refuse } = replicas(2, { max: 1 })
  const [here, there] = all as [(typeof all)[0], (typeof all)[0]]
  const eve = new CallerUsage('principal', 'eve')
  expect(await here.places.enter(eve)).toBeUndefined()
  expect(await here.begin()).toBe(true)
  refuse('eve', 'ERR_STORE_DOWN')
  clock.now = TTL_MS - 1
  await here.places.renew()
  clock.now = TTL_MS + 1
  expect(await there.begin()).toBe(false)
})

test('a renewal asks about 64 callers at once, and none begins while one runs', async () => {
  const { all, slow, release, clock } = replicas(1)
  const [{ places }] = all as [(typeof all)[0]]
  for (let i = 0; i < 100; i++) expect(await places.enter(new CallerUsage('principal', `${i}`))).toBeUndefined()
  slow()
  clock.asked = 0
  const renewing = [places.renew(), places.renew()]
  await Promise.resolve()
  expect(clock.asked).toBe(64)
  release()
  await Promise.all(renewing)
  expect(clock.asked).toBe(100)
})

test('callers who come while the store is down are forgotten', async () => {
  const { all, refuse } = replicas(1)
  const [only] = all as [(typeof all)[0]]
  const asked = refuse('ada', 'ERR_STORE_DOWN')
  await expect(only.begin()).rejects.toMatchObject({ code: 'ERR_STORE_DOWN' })
  await only.places.renew()
  expect(asked).toHaveLength(1)
})
