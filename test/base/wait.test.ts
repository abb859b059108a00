import { afterEach, describe, expect, test, vi } from 'vitest'
import { Deadlines } from '../../src/base/deadlines.ts'
import { orAborted, orTimeout, within } from '../../src/base/wait.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

const never = new Promise<never>(() => {})

describe('orAborted', () => {
  test('settles like the promise', async () => {
    const { signal } = new AbortController()
    expect(await orAborted(Promise.resolve(1), signal)).toBe(1)
    await expect(orAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
  })

  test('rejects with the reason of the signal, also when it aborted before', async () => {
    const controller = new AbortController()
    const waiting = orAborted(never, controller.signal)
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(orAborted(never, controller.signal)).rejects.toThrow('enough')
  })
})

describe('within', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  test('settles like the promise, and clears its timer', async () => {
    vi.useFakeTimers()
    expect(await within(1000, Promise.resolve(1), 'late')).toBe(1)
    await expect(within(1000, Promise.reject(new Error('no')), 'late')).rejects.toThrow('no')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('resolves with the other value after its time', async () => {
    vi.useFakeTimers()
    const waiting = within(1000, never, 'late')
    await vi.advanceTimersByTimeAsync(1000)
    expect(await waiting).toBe('late')
  })
})

describe('orTimeout', () => {
  test('settles like the promise and leaves no deadline behind', async () => {
    const clock = fakeClock()
    const deadlines = new Deadlines(clock)
    let timeouts = 0
    expect(await orTimeout(Promise.resolve(1), { deadlines, ms: 10 }, () => timeouts++)).toBe(1)
    await clock.advance(20)
    expect(timeouts).toBe(0)
  })

  test('returns or throws what onTimeout returns or throws', async () => {
    const clock = fakeClock()
    const deadlines = new Deadlines(clock)
    const value = orTimeout(never, { deadlines, ms: 10 }, () => 'late')
    const failure = orTimeout(never, { deadlines, ms: 10 }, () => {
      throw new Error('late')
    }).catch((error: unknown) => error)
    await clock.advance(10)
    expect(await value).toBe('late')
    expect(await failure).toEqual(new Error('late'))
  })

  test('starts again while the wait is held', async () => {
    const clock = fakeClock()
    let isHeld = true
    let isOver = false
    const limit = { deadlines: new Deadlines(clock), ms: 10, isHeld: () => isHeld }
    void orTimeout(never, limit, () => undefined).then(() => {
      isOver = true
    })
    await clock.advance(25)
    expect(isOver).toBe(false)
    isHeld = false
    await clock.advance(10)
    expect(isOver).toBe(true)
  })
})
