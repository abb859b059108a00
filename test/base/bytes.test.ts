import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { fromBase64Url, isBase64, randomFraction, randomId, toBase64, toBase64Url } from '../../src/base/bytes.ts'
import { expectLinear } from '../support/linear.ts'
import { proves } from '../support/proves.ts'

const bytes = fc.uint8Array({ maxLength: 64 })

describe('base64', () => {
  test('base64 of any bytes equals what Node writes', () => {
    proves('T-RES-057')
    fc.assert(
      fc.property(bytes, (data) => {
        expect(toBase64(data)).toBe(Buffer.from(data).toString('base64'))
        expect(toBase64Url(data)).toBe(Buffer.from(data).toString('base64url'))
        expect(isBase64(toBase64(data))).toBe(true)
      }),
    )
  })

  test('base64 of a view covers only its part of the buffer', () => {
    const whole = new Uint8Array([1, 2, 3, 4, 5])
    expect(toBase64(whole.subarray(1, 3))).toBe('AgM=')
  })

  test('base64 is decoded to the same bytes, and only the canonical text is accepted', () => {
    fc.assert(
      fc.property(bytes, (data) => {
        expect(fromBase64Url(toBase64Url(data))).toEqual(data)
      }),
    )
    for (const text of ['A', 'AAAAA', 'AA==', 'A+A', 'A/A', 'AB', 'AAB', 'A A', 'Ä', 'AAA\n'])
      expect(fromBase64Url(text), text).toBeUndefined()
    expect(fromBase64Url('')).toEqual(new Uint8Array())
  })

  test.each<[string, boolean]>([
    ['', true],
    ['AAAA', true],
    ['AAA=', true],
    ['AA==', true],
    ['+/+/', true],
    ['A', false],
    ['AA', false],
    ['A===', false],
    ['====', false],
    ['AA=A', false],
    ['AAAA=', false],
    ['AAA-', false],
    ['AAA ', false],
    ['AAA\n', false],
    ['data:AAAA', false],
  ])('the text %j is base64: %s', (text, expected) => {
    expect(isBase64(text)).toBe(expected)
  })

  test('base64 is recognised in linear time', () => {
    expectLinear(500_000, (size) => {
      const texts = [`${'A'.repeat(size - 4)}A!AA`, '='.repeat(size)]
      return () => texts.map(isBase64)
    })
  })
})

describe('on a runtime without Buffer', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.resetModules()
  })

  test('base64 without Buffer gives the same text', async () => {
    vi.stubGlobal('Buffer', undefined)
    vi.resetModules()
    const other = await import('../../src/base/bytes.ts')
    const data = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256)
    const [text, url, back] = [other.toBase64(data), other.toBase64Url(data), other.fromBase64Url(other.toBase64Url(data))]
    vi.unstubAllGlobals()
    expect(text).toBe(toBase64(data))
    expect(url).toBe(toBase64Url(data))
    expect(back).toEqual(data)
  })
})

test('a random id has 128 bits and is safe in any URL', () => {
  const ids = Array.from({ length: 10_000 }, randomId)
  expect(new Set(ids).size).toBe(10_000)
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/)
})

test('random fractions are from 0 up to 1, and spread evenly', () => {
  const numbers = Array.from({ length: 10_000 }, randomFraction)
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true)
  const tenths = Array.from({ length: 10 }, (_, tenth) => numbers.filter((number) => Math.floor(number * 10) === tenth).length)
  for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(200)
})
