import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../../../src/protocol/model/digest-json.ts'

describe('canonicalJson', () => {
  test('numbers are written as ECMAScript writes them', () => {
    const numbers = [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0, 0, 1e21, 123456789012345680000, 5e-324]
    expect(canonicalJson(numbers)).toBe('[333333333.3333333,1e+30,4.5,0.002,1e-27,0,0,1e+21,123456789012345680000,5e-324]')
  })

  test('members are sorted by UTF-16 code units, not by code points or by locale', () => {
    const object = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, ö: 7, Z: 8, a: 9 }
    expect(Object.keys(JSON.parse(canonicalJson(object)))).toHaveLength(9)
    expect(canonicalJson(object)).toBe('{"\\r":2,"1":4,"Z":8,"a":9,"\u0080":6,"ö":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}')
  })

  test('canonicalJson texts have the short escapes and no others than must be', () => {
    expect(canonicalJson('\u20ac$\u000f\nA\'B"\\/\b\t\f\r\u007f\u2028')).toBe('"\u20ac$\\u000f\\nA\'B\\"\\\\/\\b\\t\\f\\r\u007f\u2028"')
  })

  test('a lone surrogate has a unique canonical form', () => {
    expect(canonicalJson('\ud800')).toBe('"\\ud800"')
    expect(canonicalJson('\\ud800')).toBe('"\\\\ud800"')
  })

  test('undefined members are left out, as on the wire', () => {
    expect(canonicalJson({ b: undefined, a: [1, { c: undefined }] })).toBe('{"a":[1,{}]}')
  })

  test.each([[Number.NaN], [Number.POSITIVE_INFINITY], [undefined], [1n], [() => 1], [Symbol('x')], [[undefined]]])(
    'the value %s is not JSON',
    (value) => {
      expect(() => canonicalJson(value)).toThrow(/Expected a JSON value, got/)
    },
  )

  test('1,000 levels are written and one more is not', () => {
    const nested = (levels: number): unknown => {
      let value: unknown = 1
      for (let i = 0; i < levels; i++) value = [value]
      return value
    }
    expect(canonicalJson(nested(1_000))).toHaveLength(2_001)
    expect(() => canonicalJson(nested(1_001))).toThrow(/deeper than 1000 levels/)
  })

  test('canonical JSON does not depend on the order of members, and means the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(reversed(value))).toBe(text)
      }),
    )
  })
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, each]) => [key, reversed(each)]),
  )
}
