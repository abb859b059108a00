import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { comparableJson } from '../../../src/base/canonical-json.ts'
import { countNodes, hasUniqueItems, isEqual } from '../../../src/protocol/schema/equality.ts'

const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)
const free = (): void => {}

/** The same value with the keys of its objects in another order. */
const shuffled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, each]) => [key, shuffled(each)]),
  )
}

describe('two values', () => {
  test('values that differ only in the order of keys are equal and have the same text', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(isEqual(value, shuffled(value))).toBe(true)
        expect(comparableJson(value)).toBe(comparableJson(shuffled(value)))
        expect(JSON.parse(comparableJson(value))).toEqual(value)
      }),
    )
  })

  test('two values are equal exactly when Node says so', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(isEqual(a, b)).toBe(isDeepStrictEqual(a, b))
        expect(comparableJson(a) === comparableJson(b)).toBe(isDeepStrictEqual(a, b))
      }),
    )
  })

  test('inherited members do not make two objects equal', () => {
    expect(isEqual(JSON.parse('{"toString":1}'), { a: 1 })).toBe(false)
    expect(isEqual([], {})).toBe(false)
    expect(isEqual({}, [])).toBe(false)
  })
})

describe('items', () => {
  test('items are unique exactly when no two are equal', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(json, fc.constantFrom(1, '1', null, 'null', [], '[]')), { maxLength: 6 }), (items) => {
        const expected = !items.some((item, i) => items.slice(i + 1).some((other) => isEqual(item, other)))
        expect(hasUniqueItems(items, free)).toBe(expected)
      }),
    )
  })

  test('items are paid for before they are compared', () => {
    const spent: number[] = []
    hasUniqueItems([1, 'a', { b: [1, 2] }], (steps) => spent.push(steps))
    expect(spent).toEqual([3, 5 * 4])
  })
})

test('the parts of a value are counted', () => {
  expect(countNodes(1)).toBe(1)
  expect(countNodes([])).toBe(1)
  expect(countNodes({ a: [1, { b: null }], c: 'x' })).toBe(6)
})
