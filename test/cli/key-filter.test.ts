/** Which input answers a question, by a clock of the test. */

import { describe, expect, test } from 'vitest'
import { INTERRUPT, KeyFilter, QUIET_MS } from '../../src/cli/terminal/key-filter.ts'

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
