import { expect, test } from 'vitest'
import { compile } from '../../../src/protocol/schema/compile.ts'
import { describeIssues, type JsonSchema } from '../../../src/protocol/schema/json-schema.ts'

const number: JsonSchema = { type: 'number' }
const string: JsonSchema = { type: 'string' }

test.each<[schema: JsonSchema, accepted: unknown[], refused: unknown[]]>([
  [{ properties: { a: number } }, [{}, { a: 1 }, { b: 'x' }, [], 'x'], [{ a: 'x' }]],
  [{ properties: { a: false } }, [{}, { b: 1 }], [{ a: 1 }]],
  [{ properties: { toString: number } }, [{}, { toString: 1 }], [{ toString: 'x' }]],
  [{ required: ['a', 'b'] }, [{ a: 1, b: undefined }, { a: 1, b: 2, c: 3 }, []], [{}, { a: 1 }]],
  [{ required: ['toString'] }, [{ toString: 1 }], [{}]],
  [{ additionalProperties: false }, [{}], [{ a: 1 }]],
  [{ properties: { a: true }, additionalProperties: number }, [{ a: 'x', b: 1 }], [{ b: 'x' }]],
  [{ patternProperties: { '^x': number }, additionalProperties: false }, [{ x1: 1 }], [{ x1: 'a' }, { y: 1 }]],
  [{ properties: { xa: number }, patternProperties: { '^x': string } }, [{ xb: 'a' }], [{ xa: 1 }, { xa: 'a' }]],
  [{ propertyNames: { maxLength: 1 } }, [{}, { a: 1 }], [{ ab: 1 }]],
  [{ propertyNames: false }, [{}], [{ a: 1 }]],
  [{ minProperties: 1 }, [{ a: 1 }, []], [{}]],
  [{ maxProperties: 1 }, [{}, { a: 1 }], [{ a: 1, b: 2 }]],
  [{ dependentRequired: { a: ['b'] } }, [{}, { b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
  [{ dependentSchemas: { a: { required: ['b'] } } }, [{}, { a: 1, b: 1 }], [{ a: 1 }]],
  [{ dependencies: { a: ['b'], c: { required: ['d'] } } }, [{}, { a: 1, b: 1 }, { c: 1, d: 1 }], [{ a: 1 }, { c: 1 }]],
  [{ unevaluatedProperties: false }, [{}], [{ a: 1 }]],
  [{ properties: { a: true }, unevaluatedProperties: false }, [{ a: 1 }], [{ b: 1 }]],
  [{ patternProperties: { a: true }, unevaluatedProperties: string }, [{ a: 1, b: 'x' }], [{ b: 1 }]],
  [{ additionalProperties: true, unevaluatedProperties: false }, [{ b: 1 }], []],
  [{ allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, [{ a: 1 }], [{ a: 1, b: 1 }]],
  [
    { anyOf: [{ properties: { a: number } }, { properties: { b: number } }], unevaluatedProperties: false },
    [{ a: 1, b: 1 }],
    [{ a: 'x', b: 1 }],
  ],
  [
    {
      oneOf: [
        { required: ['a'], properties: { a: true } },
        { required: ['b'], properties: { b: true } },
      ],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { b: 1 }],
    [
      { a: 1, b: 1 },
      { a: 1, c: 1 },
    ],
  ],
  [
    {
      if: { properties: { a: { const: 1 } }, required: ['a'] },
      then: { properties: { b: true } },
      else: { properties: { c: true } },
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 1 }, { c: 1 }, {}],
    [{ a: 1, c: 1 }, { a: 2 }, { b: 1 }],
  ],
  [
    { dependentSchemas: { a: { properties: { b: true } } }, properties: { a: true }, unevaluatedProperties: false },
    [{ a: 1, b: 1 }],
    [{ b: 1 }],
  ],
  [{ not: { properties: { a: false }, required: ['a'] }, unevaluatedProperties: false }, [{}], [{ a: 1 }]],
  [{ $defs: { base: { properties: { a: true } } }, $ref: '#/$defs/base', unevaluatedProperties: false }, [{ a: 1 }], [{ b: 1 }]],
  [
    { properties: { a: { properties: { x: true }, unevaluatedProperties: false } }, unevaluatedProperties: false },
    [{ a: { x: 1 } }],
    [{ a: { y: 1 } }, { x: 1 }],
  ],
])('the schema %j accepts and refuses the right values', (schema, accepted, refused) => {
  const validate = compile(schema)
  for (const value of accepted) expect(validate(value).ok, JSON.stringify(value)).toBe(true)
  for (const value of refused) expect(validate(value).ok, JSON.stringify(value)).toBe(false)
})

test.each<[JsonSchema, unknown, string]>([
  [{ required: ['a', 'b'] }, {}, '"a" is required; "b" is required'],
  [{ properties: { a: { properties: { b: { items: string } } } } }, { a: { b: ['x', 1] } }, 'a.b[1]: expected string, got number (1)'],
  [{ additionalProperties: false }, { x: 1 }, 'unknown property "x"'],
  [{ minProperties: 2 }, { a: 1 }, 'expected at least 2 properties, got 1'],
  [{ maxProperties: 1 }, { a: 1, b: 2 }, 'expected at most 1 property, got 2'],
  [{ dependentRequired: { a: ['b'] } }, { a: 1 }, '"b" is required together with "a"'],
  [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, 'ab: expected at most 1 character, got 2'],
  [{ unevaluatedProperties: string }, { a: 1 }, 'a: expected string, got number (1); unknown property "a"'],
])('the schema %j refuses %j with the reason: %s', (schema, value, reason) => {
  const checked = compile(schema)(value)
  expect(checked.ok ? 'accepted' : describeIssues(checked.issues)).toBe(reason)
})

test('a key that is special to objects is a key like any other', () => {
  const value = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 1}') as unknown
  expect(compile({ additionalProperties: false })(value).ok).toBe(false)
  expect(compile(JSON.parse('{"properties": {"__proto__": {"type": "string"}}}'))(value).ok).toBe(false)
  expect(compile({ required: ['__proto__'] })({}).ok).toBe(false)
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})
