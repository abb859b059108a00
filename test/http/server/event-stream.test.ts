import { describe, expect, test, vi } from 'vitest'
import { type AllHttpLimits, FIXED_HTTP_LIMITS } from '../../../src/http/server/fixed-limits.ts'
import { CallerUsage } from '../../../src/http/server/limits/caller-usage.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../src/http/server/options.ts'
import { EventStream, type EventStreamOwner, readEventId } from '../../../src/http/server/streams/event-stream.ts'
import { OpenStreams } from '../../../src/http/server/streams/open-streams.ts'
import { countingClock, TestSink } from './test-sink.ts'

function streamOf({ isPolled = true, limits = {} }: { isPolled?: boolean; limits?: Partial<AllHttpLimits> } = {}) {
  const all = { ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS, ...limits }
  const { clock } = countingClock()
  let kept = 0
  const owner = {
    prefix: 'p',
    limits: all,
    open: new OpenStreams(all, clock, () => {}),
    isPolled,
    usage: new CallerUsage('address'),
    onAttended: vi.fn(),
    onUnattended: vi.fn(),
    onKept: (_stream: EventStream, bytes: number) => {
      kept += bytes
    },
    onTooMuch: vi.fn((stream: EventStream) => stream.forget()),
  } satisfies EventStreamOwner
  const stream = new EventStream(1, owner)
  const connect = (after = 0): TestSink => {
    const sink = new TestSink()
    stream.connect(sink, after, { endsAt: undefined })
    return sink
  }
  return { owner, stream, connect, kept: () => kept }
}

const ids = (sink: TestSink): string[] => sink.written.flatMap((text) => /^(?:event: message\n)?id: (\S+)$/m.exec(text)?.[1] ?? [])

describe('a stream that lets its reader go', () => {
  test('a stream that releases its reader names the time to come back, and ends its connection', () => {
    const { stream, owner, connect } = streamOf()
    const sink = connect()
    stream.release()
    expect([sink.isEnded, sink.written.at(-1)]).toEqual([true, 'retry: 1000\n\n'])
    expect([stream.isReleased, stream.isConnected, stream.isOver]).toEqual([true, false, false])
    expect([owner.onUnattended.mock.calls.length, owner.open.size]).toEqual([1, 0])
    // Whoever comes back has not been let go.
    connect()
    expect(stream.isReleased).toBe(false)
  })

  test('a stream does not release its reader in revisions whose readers do not come back', () => {
    const { stream, connect } = streamOf({ isPolled: false })
    const sink = connect()
    stream.release()
    expect([sink.isEnded, sink.written, stream.isReleased, stream.isConnected]).toEqual([false, [], false, true])
  })

  test('a stream without a reader releases nothing', () => {
    const { stream, owner } = streamOf()
    stream.breakOff()
    expect(owner.onUnattended).not.toHaveBeenCalled()
  })
})

describe('a reader that went away', () => {
  test('a reader that went away leaves the stream without one, and later events are kept', () => {
    const { stream, owner, connect } = streamOf()
    const first = connect()
    void stream.push('1')
    first.destroy()
    void stream.push('2')
    expect([stream.isConnected, stream.written, owner.open.size, owner.onUnattended.mock.calls.length]).toEqual([false, 1, 0, 1])
    const second = connect(stream.written)
    expect(ids(second)).toEqual(['p.1.1', 'p.1.2'])
  })

  test('a reader that went away after it was replaced does not affect the new one', () => {
    const { stream, owner, connect } = streamOf()
    const first = connect()
    const second = connect()
    expect([first.isEnded, second.isEnded]).toEqual([true, false])
    first.onGone?.()
    expect([stream.isConnected, owner.onUnattended.mock.calls.length, owner.open.size, owner.usage.streams]).toEqual([true, 0, 1, 1])
    void stream.push('1')
    expect(second.written.at(-1)).toContain('data: 1')
  })

  test('a reader that returns to a finished stream gets the rest, and is released at once', () => {
    const { stream, owner, connect } = streamOf()
    void stream.push('1')
    stream.finish('2')
    expect(owner.onUnattended).toHaveBeenCalledOnce()
    const sink = connect(1)
    expect([ids(sink), sink.isEnded, stream.isConnected, owner.open.size]).toEqual([['p.1.1', 'p.1.2'], true, false, 0])
    expect(owner.onUnattended).toHaveBeenCalledTimes(2)
    // Nothing is added to it.
    expect(stream.push('3')).toBeUndefined()
    expect(stream.checkResume(3)).toBeDefined()
  })
})

describe('what a stream keeps', () => {
  test.each([
    [2, 'no longer kept'],
    [3, undefined],
    [6, undefined],
    [7, 'was not sent'],
  ])('of six events with room for three, a reader can resume after event %i, or not: %s', (sequence, words) => {
    const { stream } = streamOf({ limits: { maxEvents: 3 } })
    for (let i = 1; i <= 6; i++) void stream.push(String(i))
    const fault = stream.checkResume(sequence)
    if (words === undefined) expect(fault).toBeUndefined()
    else expect(fault).toContain(words)
  })

  test('the events a stream keeps are bounded in bytes, but the last event is always kept', () => {
    const { stream, kept } = streamOf({ limits: { maxEventBytes: 1_000 } })
    for (let i = 1; i <= 5; i++) void stream.push('x'.repeat(300))
    expect(kept()).toBeLessThanOrEqual(1_000)
    expect([stream.checkResume(2), stream.checkResume(3)]).toEqual([expect.any(String), undefined])
    void stream.push('x'.repeat(2_000))
    expect(kept()).toBeGreaterThan(2_000)
    expect([stream.checkResume(4), stream.checkResume(5)]).toEqual([expect.any(String), undefined])
  })

  test('a stream without a first reader keeps fewer events', () => {
    const { stream, connect } = streamOf({ limits: { maxEvents: 5 } })
    stream.keepAtMost(2, 1_000)
    for (let i = 1; i <= 4; i++) void stream.push(String(i))
    expect([stream.checkResume(1), stream.checkResume(2)]).toEqual([expect.any(String), undefined])
    connect(2)
    for (let i = 5; i <= 7; i++) void stream.push(String(i))
    expect(stream.checkResume(2)).toBeUndefined()
  })

  test('the bytes of kept events are released in every case', () => {
    const { stream, owner, kept } = streamOf()
    expect(stream.evictOldest()).toBe(false)
    for (let i = 1; i <= 3; i++) void stream.push(String(i))
    expect(stream.evictOldest()).toBe(true)
    expect([stream.checkResume(0), stream.checkResume(1), owner.onTooMuch.mock.calls.length]).toEqual([expect.any(String), undefined, 0])
    stream.finish('last')
    // All of a stream that ended goes at once.
    expect([stream.evictOldest(), owner.onTooMuch.mock.calls.length, kept()]).toEqual([true, 1, 0])
    expect(stream.evictOldest()).toBe(false)
  })

  test('a forgotten stream keeps nothing, although its reader still gets events', () => {
    const { stream, connect, kept } = streamOf()
    const sink = connect()
    void stream.push('1')
    stream.forget()
    void stream.push('2')
    expect([ids(sink).at(-1), kept(), stream.checkResume(1), stream.checkResume(2)]).toEqual(['p.1.2', 0, expect.any(String), undefined])
  })
})

describe('the end of a stream', () => {
  test('a stream that ended without its answer is known by the last event', () => {
    const { stream } = streamOf()
    void stream.push('1')
    expect(stream.isDroppedAfter(1)).toBe(false)
    stream.finish(undefined)
    expect([stream.isDroppedAfter(0), stream.isDroppedAfter(1)]).toEqual([false, true])
  })

  test('a stream that ended with its answer has no such event', () => {
    const { stream } = streamOf()
    stream.finish('1')
    expect(stream.isDroppedAfter(1)).toBe(false)
  })

  test('a restored stream has ended, and its event can be read', () => {
    const { stream, owner, connect } = streamOf()
    stream.restore('event: message\nid: p.1.1\ndata: {}\n\n')
    expect([stream.isOver, owner.onUnattended.mock.calls.length, stream.checkResume(0)]).toEqual([true, 1, undefined])
    const sink = connect(0)
    expect([sink.isEnded, ids(sink)]).toEqual([true, ['p.1.0', 'p.1.1']])
  })
})

test.each([
  ['p.1.2', { stream: 1, sequence: 2 }],
  ['q.1.2', undefined],
  ['p.1', undefined],
  ['p.1.2.3', undefined],
  ['p.-1.2', undefined],
  ['p.1234567890123456.1', undefined],
])('the event id %j stands for %j', (id, place) => {
  expect(readEventId(id, 'p')).toEqual(place)
})
