import { expect, test } from 'vitest'
import { compile } from '../../../src/protocol/schema/compile.ts'
import { describeIssues, type JsonSchema } from '../../../src/protocol/schema/json-schema.ts'

const number: JsonSchema = { type: 'number' }
const string: JsonSchema = { type: 'string' }
const big: JsonSchema = { minimum: 10 }

test.each<[schema: JsonSchema, accepted: unknown[], refused: unknown[]]>([
  [{ allOf: [number, big] }, [10], ['x', 9]],
  [{ allOf: [true, true] }, [1], []],
  [{ allOf: [true, false] }, [], [1]],
  [{ anyOf: [string, big] }, ['x', 10, null], [9]],
  [{ anyOf: [false, false] }, [], [1]],
  [{ oneOf: [number, big] }, [9, 'x'], [10]],
  [{ oneOf: [string, number] }, ['x', 1], [null]],
  [{ not: string }, [1], ['x']],
  [{ not: true }, [], [1]],
  [{ not: false }, [1], []],
  [{ if: number, then: big }, [10, 'x'], [9]],
  [{ if: number, else: string }, [1, 'x'], [null]],
  [{ if: number, then: big, else: string }, [10, 'x'], [9, null]],
  [{ if: false, else: string }, ['x'], [1]],
  [{ then: false, else: false }, [1], []],
])('the schema %j accepts and refuses the right values', (schema, accepted, refused) => {
  const validate = compile(schema)
  for (const value of accepted) expect(validate(value).ok, JSON.stringify(value)).toBe(true)
  for (const value of refused) expect(validate(value).ok, JSON.stringify(value)).toBe(false)
})

test.each<[JsonSchema, unknown, string]>([
  [{ allOf: [number, big] }, 'x', 'expected number, got string ("x")'],
  [{ allOf: [{ minimum: 5 }, big] }, 1, 'expected at least 5, got 1; expected at least 10, got 1'],
  [{ anyOf: [string, number] }, null, 'matches none of the 2 alternatives, got null'],
  [{ anyOf: [{ properties: { a: string } }] }, { a: 1 }, 'a: expected string, got number (1)'],
  [{ oneOf: [number, big] }, 11, 'matches more than one of the alternatives, expected exactly one'],
  [{ not: number }, 1, 'matches a schema that it must not match, got number (1)'],
  [{ if: number, then: big }, 1, 'expected at least 10, got 1'],
])('the schema %j refuses %j with the reason: %s', (schema, value, reason) => {
  const checked = compile(schema)(value)
  expect(checked.ok ? 'accepted' : describeIssues(checked.issues)).toBe(reason)
})
