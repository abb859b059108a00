import { describe, expect, test, vi } from 'vitest'
import type { Sink } from '../../../src/http/server/ask.ts'
import { Holder } from '../../../src/http/server/holders.ts'
import { OpenStreams } from '../../../src/http/server/open-streams.ts'
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from '../../../src/http/server/options.ts'
import { fakeClock } from '../../../src/testing/index.ts'

/** A reader that takes what a test says it takes. */
class TestSink implements Sink {
  pending = 0
  taken = 0
  onGone: (() => void) | undefined
  readonly written: string[] = []
  isDestroyed = false
  write(text: string): void {
    this.written.push(text)
    this.taken += text.length
  }
  whenDrained(): void {}
  end(): void {}
  destroy(): void {
    this.isDestroyed = true
  }
}

function opened(limits: Partial<HttpLimits>) {
  const clock = fakeClock()
  const onCut = vi.fn()
  const open = new OpenStreams({ ...DEFAULT_HTTP_LIMITS, ...limits }, clock, onCut)
  return { clock, onCut, open, sink: new TestSink(), holder: new Holder('address') }
}

describe('a quiet stream', () => {
  test('is not one whose reader does not read, also where keepAliveMs is longer than stallMs', async () => {
    const { clock, onCut, open, sink, holder } = opened({ stallMs: 5_000, keepAliveMs: 60_000 })
    open.add({ sink, holder, onTooOld: undefined })
    await clock.advance(59_000)
    expect([onCut.mock.calls, sink.isDestroyed, sink.written]).toEqual([[], false, []])
    await clock.advance(1_000)
    expect(sink.written).toEqual([':\n\n'])
  })

  test('whose reader takes nothing is cut off stallMs after that was seen', async () => {
    const { clock, onCut, open, sink, holder } = opened({ stallMs: 5_000, keepAliveMs: 60_000 })
    open.add({ sink, holder, onTooOld: undefined })
    await clock.advance(2_000)
    sink.pending = 10
    await clock.advance(5_999)
    expect(sink.isDestroyed).toBe(false)
    await clock.advance(1)
    expect([onCut.mock.calls, sink.isDestroyed]).toEqual([[['stallMs']], true])
  })

  test('whose reader takes a little now and then is not', async () => {
    const { clock, onCut, open, sink, holder } = opened({ stallMs: 5_000 })
    open.add({ sink, holder, onTooOld: undefined })
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
  ])('after %i ms ends at the first look at or after that: %i ms', async (endsAt, endedAt) => {
    const { clock, open, sink, holder } = opened({})
    const onEnded = vi.fn()
    open.add({ sink, holder, onTooOld: undefined, endsAt, onEnded })
    await clock.advance(endedAt - 1)
    expect(onEnded).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(onEnded).toHaveBeenCalledOnce()
    await clock.advance(10_000)
    expect(onEnded).toHaveBeenCalledOnce()
  })

  test('because it is too old ends at the first look at or after maxStreamAgeMs', async () => {
    const { clock, open, sink, holder } = opened({ maxStreamAgeMs: 7_000 })
    const onTooOld = vi.fn(() => open.remove(sink))
    open.add({ sink, holder, onTooOld })
    await clock.advance(6_999)
    expect(onTooOld).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(onTooOld).toHaveBeenCalledOnce()
  })
})

test('a stream counts as one of its holder until it is removed, once', () => {
  const { open, sink, holder } = opened({})
  open.add({ sink, holder, onTooOld: undefined })
  expect([open.size, holder.streams]).toEqual([1, 1])
  open.remove(sink)
  open.remove(sink)
  expect([open.size, holder.streams, holder.isIdle]).toEqual([0, 0, true])
})
