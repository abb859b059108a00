import { describe, expect, test } from 'vitest'
import { compile } from '../../../src/protocol/schema/compile.ts'
import { describeIssues, type JsonSchema } from '../../../src/protocol/schema/json-schema.ts'

type Row = [schema: JsonSchema, accepted: unknown[], refused: unknown[]]

const show = (row: Row): [string, ...Row] => [JSON.stringify(row[0]), ...row]

const ANY = [null, true, 0, 1.5, '', 'a', [], [1], {}, { a: 1 }]
const except = (...left: unknown[]): unknown[] => ANY.filter((each) => !left.includes(each))

const OF_ANY_VALUE: Row[] = [
  [{}, ANY, []],
  [{ type: 'null' }, [null], except(null)],
  [{ type: 'boolean' }, [true, false], except(true)],
  [{ type: 'number' }, [0, 1.5, -1e300], except(0, 1.5)],
  [{ type: 'integer' }, [0, -3, 1.0, 1e300], [1.5, '1', null, [1]]],
  [{ type: 'string' }, ['', 'a'], except('', 'a')],
  [{ type: 'array' }, [[], [1]], [{}, 'a', null, { length: 0 }]],
  [{ type: 'object' }, [{}, { a: 1 }], [[], null, 'a']],
  [{ type: ['string', 'null'] }, ['a', null], [1, [], {}]],
  [{ type: ['integer', 'integer'] }, [1], ['1']],
  [{ const: 1 }, [1, 1.0], [2, '1', true, null]],
  [{ const: null }, [null], [0, '', false]],
  [{ const: { a: [1, { b: 2 }] } }, [{ a: [1, { b: 2 }] }], [{ a: [1, { b: 3 }] }, { a: [1, { b: 2 }], c: 1 }, { a: [{ b: 2 }, 1] }, []]],
  [{ const: { a: 1, b: 2 } }, [{ b: 2, a: 1 }], [{ a: 1 }]],
  [{ const: [] }, [[]], [{}, [1]]],
  [{ const: {} }, [{}], [[], { a: 1 }]],
  [{ enum: ['a', 1, null, [1], { a: 1 }] }, ['a', 1, null, [1], { a: 1 }], ['b', '1', [], [2], {}, { a: 2 }, undefined]],
  [{ enum: [] }, [], ANY],
  [{ const: 1, enum: [1, 2] }, [1], [2, 3]],
  [{ const: 3, enum: [1, 2] }, [], [1, 2, 3]],
]

const OF_NUMBERS: Row[] = [
  [{ minimum: 1 }, [1, 2, 'x', null], [0.99, -5]],
  [{ maximum: 1 }, [1, 0, 'x'], [1.01]],
  [{ exclusiveMinimum: 1 }, [1.01, 'x'], [1, 0]],
  [{ exclusiveMaximum: 1 }, [0.99, 'x'], [1, 2]],
  [{ multipleOf: 3 }, [0, 3, -9, 'x', 9007199254740990, 3e300], [1, 4.5, 2 ** 53, 2 ** 53 + 2, 1e300, Number.POSITIVE_INFINITY]],
  [{ multipleOf: 0.3 }, [0, 0.9, 3e15], [1, 1e15, 9007199254740991, 0.1]],
  [{ multipleOf: 1e-300 }, [1e300, 5e-300], [5e-301]],
  [{ type: 'number' }, [0, -1.5, 1e308], [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, '1']],
  [{ multipleOf: 0.0001 }, [0.0075, 0.3], [0.00751]],
  [{ multipleOf: 0.1 }, [0.3, 1.1, 0], [0.35]],
  [{ multipleOf: 0.5 }, [1e308, 4.5], [0.25]],
]

const OF_STRINGS: Row[] = [
  [{ minLength: 2 }, ['ab', '😀😀', 1, []], ['a', '😀', '']],
  [{ maxLength: 2 }, ['ab', '😀😀', '', 1], ['abc', '😀😀😀']],
  [{ minLength: 2, maxLength: 2 }, ['é😀', '😀a'], ['😀', '😀ab']],
  [{ maxLength: 1 }, ['\ud83d'], ['\ud83d\ud83d', '\ude00\ud83d']],
  [{ pattern: '^a+$' }, ['a', 'aaa', 5], ['', 'ab', 'ba']],
  [{ pattern: 'b' }, ['abc'], ['ac']],
  [{ pattern: '^\\p{L}$' }, ['é', 'ж'], ['1']],
  [{ pattern: '^[\\w-.]+$' }, ['a-b.c'], ['a b']],
  [{ format: 'email' }, ['not an address', 1], []],
]

describe.each([
  ['any value', OF_ANY_VALUE],
  ['numbers', OF_NUMBERS],
  ['strings', OF_STRINGS],
])('keywords of %s', (_kind, rows) => {
  test.each(rows.map(show))('the keyword accepts and refuses the right values: %s', (_text, schema, accepted, refused) => {
    const validate = compile(schema)
    for (const value of accepted) expect(validate(value), JSON.stringify(value)).toEqual({ ok: true, value })
    for (const value of refused) expect(validate(value).ok, JSON.stringify(value)).toBe(false)
  })
})

describe('a refusal says what was expected and what came', () => {
  const reasonOf = (schema: JsonSchema, value: unknown): string => {
    const checked = compile(schema, { assertsFormats: true })(value)
    return checked.ok ? 'accepted' : describeIssues(checked.issues)
  }
  test.each<[JsonSchema, unknown, string]>([
    [{ type: 'string' }, 42, 'expected string, got number (42)'],
    [{ type: ['string', 'null'] }, [1], 'expected string or null, got array ([1])'],
    [{ type: 'object' }, undefined, 'expected object, got nothing'],
    [{ type: 'object' }, null, 'expected object, got null'],
    [{ const: { a: 1 } }, 2, 'expected {"a":1}, got number (2)'],
    [{ enum: ['a', 'b'] }, 'c', 'expected one of "a", "b", got string ("c")'],
    [{ enum: Array.from({ length: 12 }, (_, i) => i) }, 'c', 'expected one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ..., got string ("c")'],
    [{ minimum: 3 }, 2, 'expected at least 3, got 2'],
    [{ maximum: 3 }, 4, 'expected at most 3, got 4'],
    [{ exclusiveMinimum: 3 }, 3, 'expected more than 3, got 3'],
    [{ exclusiveMaximum: 3 }, 3, 'expected less than 3, got 3'],
    [{ type: 'number' }, Number.POSITIVE_INFINITY, 'expected number, got number (Infinity)'],
    [{ multipleOf: 3 }, 4, 'expected a multiple of 3, got 4'],
    [{ minLength: 3 }, 'ab', 'expected at least 3 characters, got 2'],
    [{ maxLength: 3 }, '😀😀😀😀', 'expected at most 3 characters, got 4'],
    [{ pattern: '^a$' }, 'b', 'expected text matching ^a$, got string ("b")'],
    [{ format: 'date' }, 'today', 'expected date, got string ("today")'],
    [{ properties: { a: false } }, { a: 1 }, 'a: no value is allowed here'],
  ])('the schema %j refuses %j with the reason: %s', (schema, value, reason) => {
    expect(reasonOf(schema, value)).toBe(reason)
  })
})
