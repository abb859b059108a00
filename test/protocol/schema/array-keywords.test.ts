import { expect, test } from 'vitest'
import { compile } from '../../../src/protocol/schema/compile.ts'
import { describeIssues, type JsonSchema } from '../../../src/protocol/schema/json-schema.ts'

const number: JsonSchema = { type: 'number' }
const string: JsonSchema = { type: 'string' }

test.each<[schema: JsonSchema, accepted: unknown[], refused: unknown[]]>([
  [{ items: number }, [[], [1, 2], 'x', { 0: 'a' }], [['a'], [1, 'a']]],
  [{ items: false }, [[]], [[1]]],
  [{ items: true }, [[1, 'a']], []],
  [{ prefixItems: [number, string] }, [[], [1], [1, 'a'], [1, 'a', null]], [['a'], [1, 2]]],
  [{ prefixItems: [number], items: string }, [[1], [1, 'a', 'b']], [[1, 2], ['a']]],
  [{ prefixItems: [number], items: false }, [[1], []], [[1, 2]]],
  [{ prefixItems: [number], unevaluatedItems: false }, [[1], []], [[1, 2]]],
  [{ prefixItems: [number], unevaluatedItems: string }, [[1, 'a']], [[1, 2]]],
  [{ items: number, unevaluatedItems: false }, [[1, 2]], [['a']]],
  [
    { contains: number, unevaluatedItems: string },
    [
      [1, 'a'],
      ['a', 1, 2],
    ],
    [[1, null], ['a']],
  ],
  [{ allOf: [{ prefixItems: [number] }], unevaluatedItems: false }, [[1]], [[1, 2]]],
  [{ anyOf: [{ prefixItems: [number, string] }, { prefixItems: [number] }], unevaluatedItems: false }, [[1], [1, 'a']], [[1, 2]]],
  [{ not: { not: { prefixItems: [number] } }, unevaluatedItems: false }, [[]], [[1]]],
  [{ $defs: { first: { prefixItems: [number] } }, $ref: '#/$defs/first', unevaluatedItems: false }, [[1]], [[1, 2]]],
  [{ unevaluatedItems: { unevaluatedItems: false } }, [[[]]], [[[1]]]],
  [{ minItems: 1 }, [[1], 'x'], [[]]],
  [{ maxItems: 1 }, [[], [1], 'xx'], [[1, 2]]],
  [
    { uniqueItems: true },
    [[], [1, '1', true, null, [1], { a: 1 }], [1, true], [0, false], [{ a: 1 }, { a: 2 }], ['[1]', [1]]],
    [
      [1, 1.0],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[1], [1]],
      [null, null],
    ],
  ],
  [{ uniqueItems: false }, [[1, 1]], []],
  [{ contains: number }, [[1], ['a', 1]], [[], ['a']]],
  [{ contains: number, minContains: 2 }, [[1, 'a', 2]], [[1, 'a']]],
  [{ contains: number, maxContains: 1 }, [[1, 'a']], [[1, 2], ['a']]],
  [{ contains: number, minContains: 0 }, [[], ['a']], []],
  [{ contains: number, minContains: 0, maxContains: 1 }, [[], [1]], [[1, 2]]],
  [{ minContains: 2 }, [[]], []],
])('the schema %j accepts and refuses the right values', (schema, accepted, refused) => {
  const validate = compile(schema)
  for (const value of accepted) expect(validate(value).ok, JSON.stringify(value)).toBe(true)
  for (const value of refused) expect(validate(value).ok, JSON.stringify(value)).toBe(false)
})

test.each<[JsonSchema, unknown, string]>([
  [{ minItems: 2 }, [1], 'expected at least 2 items, got 1'],
  [{ maxItems: 1 }, [1, 2], 'expected at most 1 item, got 2'],
  [{ uniqueItems: true }, [1, 1], 'expected items that differ from each other'],
  [{ contains: string }, [1], 'expected at least 1 matching item, got 0'],
  [{ contains: string, maxContains: 1 }, ['a', 'b'], 'expected at most 1 matching item, got 2'],
  [{ items: string }, ['a', 1, 'b', 2], '[1]: expected string, got number (1); [3]: expected string, got number (2)'],
  [{ prefixItems: [{ items: string }] }, [[1]], '[0][0]: expected string, got number (1)'],
])('the schema %j refuses %j with the reason: %s', (schema, value, reason) => {
  const checked = compile(schema)(value)
  expect(checked.ok ? 'accepted' : describeIssues(checked.issues)).toBe(reason)
})
