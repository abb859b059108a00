import { describe, expect, test, vi } from 'vitest'
import { type AllHttpLimits, FIXED_HTTP_LIMITS } from '../../../src/http/server/fixed-limits.ts'
import { CallerUsage } from '../../../src/http/server/limits/caller-usage.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../src/http/server/options.ts'
import { OpenStreams } from '../../../src/http/server/streams/open-streams.ts'
import { countingClock, TestSink } from './test-sink.ts'

function opened(limits: Partial<AllHttpLimits>) {
  const { clock, timers } = countingClock()
  const onCut = vi.fn()
  const open = new OpenStreams({ ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS, ...limits }, clock, onCut)
  return { clock, timers, onCut, open, sink: new TestSink(), usage: new CallerUsage('address') }
}

describe('a quiet stream', () => {
  test('a quiet stream is not stalled, also where keepAliveMs is longer than stallMs', async () => {
    const { clock, onCut, open, sink, usage } = opened({ stallMs: 5_000, keepAliveMs: 60_000 })
    open.add({ sink, usage, onTooOld: undefined })
    await clock.advance(59_000)
    expect([onCut.mock.calls, sink.isDestroyed, sink.written]).toEqual([[], false, []])
    await clock.advance(1_000)
    expect(sink.written).toEqual([':\n\n'])
  })

  test('a quiet stream whose reader does not read is cut off stallMs after that was noticed', async () => {
    const { clock, onCut, open, sink, usage } = opened({ stallMs: 5_000, keepAliveMs: 60_000 })
    open.add({ sink, usage, onTooOld: undefined })
    await clock.advance(2_000)
    sink.pending = 10
    await clock.advance(5_999)
    expect(sink.isDestroyed).toBe(false)
    await clock.advance(1)
    expect([onCut.mock.calls, sink.isDestroyed]).toEqual([[[sink.reply, 'stallMs']], true])
  })

  test('a quiet stream whose reader reads a little now and then is not cut off', async () => {
    const { clock, onCut, open, sink, usage } = opened({ stallMs: 5_000 })
    open.add({ sink, usage, onTooOld: undefined })
    sink.pending = 10
    for (let i = 0; i < 10; i++) {
      sink.taken++
      await clock.advance(4_000)
    }
    expect(onCut).not.toHaveBeenCalled()
  })
})

describe('a stream that must end', () => {
  test.each([
    [4_000, 4_000],
    [4_001, 5_000],
    [4_999, 5_000],
  ])('a stream that must end after %i ms ends at the first tick from then on: %i ms', async (endsAt, endedAt) => {
    const { clock, open, sink, usage } = opened({})
    const onEnded = vi.fn()
    open.add({ sink, usage, onTooOld: undefined, endsAt, onEnded })
    await clock.advance(endedAt - 1)
    expect(onEnded).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(onEnded).toHaveBeenCalledOnce()
    await clock.advance(10_000)
    expect(onEnded).toHaveBeenCalledOnce()
  })

  test('a stream that is too old ends at the first tick after maxStreamAgeMs', async () => {
    const { clock, open, sink, usage } = opened({ maxStreamAgeMs: 7_000 })
    const onTooOld = vi.fn(() => open.remove(sink))
    open.add({ sink, usage, onTooOld })
    await clock.advance(6_999)
    expect(onTooOld).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(onTooOld).toHaveBeenCalledOnce()
  })
})

test('a stream counts as one of its usage until it is removed, once', () => {
  const { open, sink, usage } = opened({})
  open.add({ sink, usage, onTooOld: undefined })
  expect([open.size, usage.streams]).toEqual([1, 1])
  open.remove(sink)
  open.remove(sink)
  expect([open.size, usage.streams, usage.isIdle]).toEqual([0, 0, true])
})

describe('the timer', () => {
  test('the timer runs while a stream is open, and stops at the tick after the last was removed', async () => {
    const { clock, timers, open, sink, usage } = opened({})
    expect(timers()).toBe(0)
    open.add({ sink, usage, onTooOld: undefined })
    await clock.advance(5_000)
    expect(timers()).toBe(1)
    open.remove(sink)
    await clock.advance(1_000)
    expect(timers()).toBe(0)
  })

  test('the timer runs while there is a periodic job, calls it at every tick, and stops with it', async () => {
    const { clock, timers, open } = opened({})
    const chore = vi.fn()
    const stop = open.everyTick(chore)
    await clock.advance(3_000)
    expect([chore.mock.calls.length, timers()]).toEqual([3, 1])
    stop()
    await clock.advance(3_000)
    expect([chore.mock.calls.length, timers()]).toEqual([3, 0])
  })

  test('the timer is one for everything, and starts again', async () => {
    const { clock, timers, open, sink, usage } = opened({})
    const stop = open.everyTick(() => {})
    open.add({ sink, usage, onTooOld: undefined })
    expect(timers()).toBe(1)
    stop()
    open.remove(sink)
    await clock.advance(1_000)
    expect(timers()).toBe(0)
    open.add({ sink, usage, onTooOld: undefined })
    expect([timers(), open.now]).toEqual([1, 1_000])
  })

  test('the timer is gone after close, with every stream', () => {
    const { timers, open, sink, usage } = opened({})
    open.add({ sink, usage, onTooOld: undefined })
    open.close()
    expect([timers(), open.size, usage.streams, sink.isDestroyed]).toEqual([0, 0, 0, true])
  })

  test.each([
    [{}, 1_000],
    [{ stallMs: 400 }, 100],
    [{ keepAliveMs: 40 }, 20],
    [{ sessionIdleMs: 1 }, 20],
  ])('the timer ticks as often as the shortest limit of %j needs: every %i ms', async (limits, tickMs) => {
    const { clock, open } = opened(limits)
    const chore = vi.fn()
    open.everyTick(chore)
    await clock.advance(tickMs - 1)
    expect(chore).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(chore).toHaveBeenCalledOnce()
  })
})

describe('a reader that falls behind', () => {
  const limits = { softBufferBytes: 100, hardBufferBytes: 200 }

  test.each([
    [100, false],
    [101, true],
  ])('a reader that is %i bytes behind makes the writer wait: %s', async (pending, mustWait) => {
    const { open, sink } = opened(limits)
    sink.pending = pending
    const wait = open.write(sink, 'x')
    expect(wait !== undefined).toBe(mustWait)
    for (const listener of sink.waiting) listener()
    await wait
    expect(sink.written).toEqual(['x'])
  })

  test.each([
    [199, false],
    [200, true],
  ])('a reader that is %i bytes behind is cut off: %s', (pending, isCut) => {
    const { open, onCut, sink, usage } = opened(limits)
    sink.onGone = () => open.remove(sink)
    open.add({ sink, usage, onTooOld: undefined })
    sink.pending = pending
    const wait = open.write(sink, 'x')
    expect([sink.isDestroyed, onCut.mock.calls, sink.written.length]).toEqual([
      isCut,
      isCut ? [[sink.reply, 'hardBufferBytes']] : [],
      isCut ? 0 : 1,
    ])
    expect([open.size, wait === undefined]).toEqual([isCut ? 0 : 1, isCut])
  })

  test('a reader that is behind gets no keep-alive comment', async () => {
    const { clock, open, sink, usage } = opened({ keepAliveMs: 5_000, stallMs: 60_000 })
    open.add({ sink, usage, onTooOld: undefined })
    sink.pending = 1
    await clock.advance(10_000)
    expect(sink.written).toEqual([])
    sink.pending = 0
    await clock.advance(1_000)
    expect(sink.written).toEqual([':\n\n'])
  })

  test('a reader that got data counts as quiet from then on', async () => {
    const { clock, open, sink, usage } = opened({ keepAliveMs: 5_000 })
    open.add({ sink, usage, onTooOld: undefined })
    await clock.advance(3_000)
    void open.write(sink, 'event')
    await clock.advance(4_000)
    expect(sink.written).toEqual(['event'])
    await clock.advance(1_000)
    expect(sink.written).toEqual(['event', ':\n\n'])
    // And anew after each sign of life.
    await clock.advance(4_000)
    expect(sink.written).toHaveLength(2)
    await clock.advance(1_000)
    expect(sink.written).toHaveLength(3)
  })
})

describe('streams that belong to no request', () => {
  test('streams that belong to no request end when the server does, and those of requests do not', async () => {
    const { open, sink, usage } = opened({})
    const [standing, other] = [new TestSink(), new TestSink()]
    const onTooOld = vi.fn()
    open.add({ sink, usage, onTooOld: undefined })
    for (const each of [standing, other]) open.add({ sink: each, usage, onTooOld })
    expect(open.isEnding).toBe(false)
    let isOver = false
    const over = open.endStanding().then(() => {
      isOver = true
    })
    expect([open.isEnding, onTooOld.mock.calls.length]).toEqual([true, 2])
    open.remove(standing)
    await Promise.resolve()
    await Promise.resolve()
    expect(isOver).toBe(false)
    open.remove(other)
    await over
    expect(open.size).toBe(1)
  })

  test('streams that belong to no request are not waited for when there are none', async () => {
    const { open, sink, usage } = opened({})
    open.add({ sink, usage, onTooOld: undefined })
    await open.endStanding()
  })

  test('streams without a request end at their time, each in the way of its kind', async () => {
    const { clock, open, sink, usage } = opened({})
    const [onTooOld, onEnded] = [vi.fn(), vi.fn()]
    open.add({ sink, usage, onTooOld, onEnded, endsAt: 1_000 })
    const plain = new TestSink()
    open.add({ sink: plain, usage, onTooOld: undefined, endsAt: 1_000 })
    await clock.advance(3_000)
    expect([onTooOld.mock.calls.length, onEnded.mock.calls.length, sink.isDestroyed]).toEqual([1, 0, false])
    expect(plain.isDestroyed).toBe(true)
  })
})
