import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchValue } from '../../src/base/watch-value.ts'

const LOOK_MS = 250

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('tells each change once, and nothing about the first value or a look that fails', async () => {
  const values: (string | undefined | Error)[] = [undefined, undefined, 'a', new Error('down'), 'a', undefined, 'b']
  const read = vi.fn(async () => {
    const value = values.shift()
    if (value instanceof Error) throw value
    return value
  })
  const told: number[] = []
  const stop = watchValue(read, () => told.push(read.mock.calls.length))
  await vi.advanceTimersByTimeAsync(6 * LOOK_MS)
  stop()
  await vi.advanceTimersByTimeAsync(2 * LOOK_MS)
  expect([told, read.mock.calls.length]).toEqual([[3, 6, 7], 7])
})

test('says nothing after it was stopped, also about a look that was under way', async () => {
  let answer = (_value: string): void => {}
  const read = (): Promise<string> => new Promise((resolve) => (answer = resolve))
  const listener = vi.fn()
  const stop = watchValue(read, listener)
  answer('a')
  await vi.advanceTimersByTimeAsync(LOOK_MS)
  stop()
  answer('b')
  await vi.advanceTimersByTimeAsync(LOOK_MS)
  expect(listener).not.toHaveBeenCalled()
})

test('waits for a slow look before the next one', async () => {
  const read = vi.fn(() => new Promise(() => {}))
  const stop = watchValue(read, () => {})
  await vi.advanceTimersByTimeAsync(3 * LOOK_MS)
  stop()
  expect(read).toHaveBeenCalledTimes(1)
})
