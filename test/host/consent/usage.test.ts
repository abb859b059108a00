import { describe, expect, test } from 'vitest'
import { type CountedCall, UsageCounter } from '../../../src/host/consent/usage.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const call = (rest: Partial<CountedCall> = {}): CountedCall => ({
  kind: 'tool.call',
  principal: 'ada',
  run: 'run-1',
  turn: 1,
  server: 'notes',
  name: 'add',
  args: { text: 'milk' },
  ...rest,
})

function counting(limits = {}): { usage: UsageCounter; clock: { now: number } } {
  const clock = { now: 1_800_000_000_000 }
  return { usage: new UsageCounter({ now: () => clock.now, limits }), clock }
}

describe('calls', () => {
  test('calls are counted for a minute, an hour and a day, and never for less', () => {
    const { usage, clock } = counting()
    for (let i = 0; i < 3; i++) usage.begin(call())()
    expect(usage.usageOf(call())).toMatchObject({ lastMinute: 3, lastHour: 3, lastDay: 3, concurrent: 0 })
    clock.now += MINUTE - 1
    expect(usage.usageOf(call()).lastMinute).toBe(3)
    clock.now += MINUTE
    expect(usage.usageOf(call())).toMatchObject({ lastMinute: 0, lastHour: 3 })
    clock.now += HOUR + 5 * MINUTE
    expect(usage.usageOf(call())).toMatchObject({ lastHour: 0, lastDay: 3 })
    clock.now += DAY + HOUR
    expect(usage.usageOf(call()).lastDay).toBe(0)
  })

  test('each running call is counted once, even if it ends several times', () => {
    const { usage } = counting()
    const [first, second] = [usage.begin(call()), usage.begin(call())]
    expect(usage.usageOf(call()).concurrent).toBe(2)
    first()
    first()
    expect(usage.usageOf(call()).concurrent).toBe(1)
    second()
    expect(usage.usageOf(call()).concurrent).toBe(0)
  })

  test('calls of another principal, server or tool are counted separately', () => {
    const { usage } = counting()
    usage.begin(call())
    for (const other of [{ principal: 'bob' }, { server: 'mail' }, { name: 'drop' }]) {
      expect(usage.usageOf(call(other))).toMatchObject({ lastMinute: 0, concurrent: 0 })
    }
    expect(usage.usageOf(call({ run: 'run-2', args: {} })).lastMinute).toBe(1)
  })

  test('setting the clock back does not reset a count', () => {
    const { usage, clock } = counting()
    usage.begin(call())
    clock.now -= 10 * DAY
    expect(usage.usageOf(call()).lastMinute).toBe(1)
    usage.begin(call())
    expect(usage.usageOf(call()).lastMinute).toBe(2)
  })
})

describe('repeated calls', () => {
  test('repeated calls are counted by tool and arguments, in any order of members', () => {
    const { usage } = counting()
    const twice = [call({ args: { a: 1, b: 2 } }), call({ args: { b: 2, a: 1 } })]
    expect(twice.map((each) => usage.attempt(each).identicalInARow)).toEqual([1, 2])
    expect(usage.usageOf(call({ args: { a: 1, b: 2 } })).identicalInARow).toBe(2)
    expect(usage.attempt(call({ args: { a: 1, b: 3 } })).identicalInARow).toBe(1)
    expect(usage.attempt(call({ args: { a: 1, b: 2 } })).identicalInARow).toBe(1)
  })

  test('repeated calls are counted for each run, until it ends', () => {
    const { usage } = counting()
    usage.attempt(call())
    expect(usage.attempt(call({ run: 'run-2' })).identicalInARow).toBe(1)
    expect(usage.attempt(call()).identicalInARow).toBe(2)
    usage.forget('run-1')
    expect(usage.attempt(call()).identicalInARow).toBe(1)
  })

  test('a new message of the person ends a row of repeated calls', () => {
    const { usage } = counting()
    expect([1, 1, 2, 2].map((turn) => usage.attempt(call({ turn })).identicalInARow)).toEqual([1, 2, 1, 2])
  })

  test('repeated calls of the oldest run are forgotten over maxRuns', () => {
    const { usage } = counting({ maxRuns: 2 })
    for (const run of ['a', 'b', 'a', 'c']) usage.attempt(call({ run }))
    expect(usage.attempt(call({ run: 'a' })).identicalInARow).toBe(3)
    expect(usage.attempt(call({ run: 'b' })).identicalInARow).toBe(1)
  })
})

describe('tokens', () => {
  test('tokens are counted for each server for a day', () => {
    const { usage, clock } = counting()
    usage.spend('notes', 100)
    usage.spend('notes', 50)
    expect(usage.usageOf(call()).tokensToday).toBe(150)
    expect(usage.usageOf(call({ server: 'mail' })).tokensToday).toBe(0)
    clock.now += DAY + HOUR
    expect(usage.usageOf(call()).tokensToday).toBe(0)
  })
})

describe('more counters than maxCounters', () => {
  test('new counters over maxCounters share one count, which is stricter', () => {
    const { usage } = counting({ maxCounters: 2 })
    for (const name of ['a', 'b', 'c', 'd']) usage.begin(call({ name }))
    expect(usage.usageOf(call({ name: 'a' })).lastMinute).toBe(1)
    expect(usage.usageOf(call({ name: 'c' })).lastMinute).toBe(2)
    expect(usage.usageOf(call({ name: 'never called' }))).toMatchObject({ lastMinute: 2, concurrent: 2 })
    for (const server of ['x', 'y', 'z']) usage.spend(server, 10)
    expect(usage.usageOf(call({ server: 'w' })).tokensToday).toBe(10)
  })

  test('a counter without a call for a day makes room', () => {
    const { usage, clock } = counting({ maxCounters: 2 })
    usage.begin(call({ name: 'a' }))()
    usage.begin(call({ name: 'open' }))
    clock.now += DAY + HOUR
    usage.begin(call({ name: 'c' }))
    expect(usage.usageOf(call({ name: 'c' })).lastMinute).toBe(1)
    expect(usage.usageOf(call({ name: 'open' })).concurrent).toBe(1)
  })
})
