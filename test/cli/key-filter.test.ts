/** Which input answers a question, by a clock of the test. */

import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { HOLD_MS, INTERRUPT, KeyFilter, QUIET_MS } from '../../src/cli/terminal/key-filter.ts'
import { readKey } from '../../src/cli/terminal/read-key.ts'

const drawn = 10_000
const filter = () => new KeyFilter(['y', 'n', 'd'], drawn)

describe('keys', () => {
  test('a key counts half a second after the question was drawn, not before', () => {
    expect(QUIET_MS).toBe(500)
    expect(filter().take('y', drawn + 499)).toBeUndefined()
    expect(filter().take('y', drawn + 500)).toBe('y')
  })

  test('a key counts in either case, Enter takes the default, Esc and Ctrl-D close', () => {
    const later = drawn + 600
    expect(filter().take('Y', later)).toBe('y')
    for (const enter of ['\r', '\n']) expect(filter().take(enter, later)).toBe('enter')
    for (const close of ['\u001b', '\u0004']) expect(filter().take(close, later)).toBe('cancel')
  })

  test('Ctrl-C closes at once', () => {
    expect(filter().take(INTERRUPT, drawn)).toBe('cancel')
  })

  test.each(['yy', 'y\r', 'yes', '\u001b[A', '\u001b[200~y\u001b[201~', '\r\r', 'ÿ', ''])(
    'several characters in one read are no answer: %j',
    (input) => {
      expect(filter().take(input, drawn + 5000)).toBeUndefined()
    },
  )

  test('a key that is not offered does nothing', () => {
    expect(filter().take('a', drawn + 5000)).toBeUndefined()
  })
})

describe('typing', () => {
  test('a held key never answers, until it was released for half a second', () => {
    const keys = filter()
    for (let at = drawn + 10; at < drawn + 10_000; at += 30) expect(keys.take('y', at)).toBeUndefined()
    expect(keys.take('y', drawn + 10_600)).toBe('y')
  })

  test('the middle of a sentence does not answer', () => {
    const keys = filter()
    const start = drawn + 700
    for (const [i, letter] of [...'buy\r'].entries()) expect(keys.take(letter, start + i * 200)).toBeUndefined()
    expect(keys.take('n', start + 600 + 500)).toBe('n')
  })

  test('after a paste, keys count again only after half a second', () => {
    const keys = filter()
    expect(keys.take('rm -rf /\n', drawn + 3000)).toBeUndefined()
    expect(keys.take('y', drawn + 3100)).toBeUndefined()
    expect(keys.take('y', drawn + 3700)).toBe('y')
  })

  test('input that was dropped starts the half second again', () => {
    const keys = filter()
    keys.drop(drawn + 400)
    expect(keys.take('y', drawn + 700)).toBeUndefined()
    expect(keys.take('y', drawn + 1300)).toBe('y')
  })
})

describe('a key is held for a moment', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  async function opened() {
    const stdin = new PassThrough() as PassThrough & { fd: 0 }
    let answer: string | undefined
    void readKey({ stdin }, ['y', 'n', '1'], { signal: new AbortController().signal, draw: () => {} }).then(
      (key) => (answer = key),
      () => (answer = 'cancel'),
    )
    await vi.advanceTimersByTimeAsync(QUIET_MS + 1)
    const type = async (input: string, ms: number): Promise<void> => {
      stdin.emit('data', Buffer.from(input))
      await vi.advanceTimersByTimeAsync(ms)
    }
    return { type, answer: () => answer }
  }

  test.each(['y', '1', 'n'])('%s answers when nothing follows it', async (key) => {
    const { type, answer } = await opened()
    await type(key, HOLD_MS - 5)
    expect(answer()).toBeUndefined()
    await vi.advanceTimersByTimeAsync(10)
    expect(answer()).toBe(key)
  })

  test('input that follows drops the key and starts the half second again', async () => {
    const { type, answer } = await opened()
    for (const letter of 'yes, do that\r') await type(letter, 15)
    await type('', QUIET_MS - 50)
    await type('y', 1000)
    expect(answer()).toBeUndefined()
    await type('y', HOLD_MS + 5)
    expect(answer()).toBe('y')
  })

  test('Ctrl-C after a key closes the question', async () => {
    const { type, answer } = await opened()
    await type('y', 15)
    await type(INTERRUPT, 1)
    expect(answer()).toBe('cancel')
  })
})
