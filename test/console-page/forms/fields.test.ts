/** Fields of a form from JSON Schema. */

import { expect, test } from 'vitest'
import { canDraw } from '../../../console/src/forms/model/can-draw.ts'
import { fieldOf } from '../../../console/src/forms/model/field.ts'
import { fits } from '../../../console/src/forms/model/fits.ts'
import { emptyOf, initialValue } from '../../../console/src/forms/model/initial.ts'
import type { Schema } from '../../../console/src/forms/model/schema.ts'

const kindOf = (schema: unknown, root: Schema = {}): string => fieldOf(root, schema).kind

test.each([
  [{ type: 'string' }, 'text'],
  [{ type: 'integer' }, 'number'],
  [{ type: 'boolean' }, 'boolean'],
  [{ enum: ['a', 'b'] }, 'choice'],
  [{ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, 'choice'],
  [{ type: 'array', items: { type: 'string', enum: ['x'] } }, 'choices'],
  [{ type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }] } }, 'choices'],
  [{ const: 3 }, 'const'],
  [{ type: 'null' }, 'const'],
  [{ properties: { a: {} } }, 'object'],
  [{ type: 'array' }, 'array'],
  [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'union'],
  [{ type: ['string', 'number'] }, 'union'],
  [{}, 'any'],
  [true, 'any'],
  [false, 'any'],
  ['nonsense', 'any'],
])('the schema %j is a field of the kind %s', (schema, kind) => {
  expect(kindOf(schema)).toBe(kind)
})

test('null among the types or the alternatives makes a field nullable', () => {
  expect(fieldOf({}, { type: ['string', 'null'] })).toMatchObject({ kind: 'text', isNullable: true })
  expect(fieldOf({}, { anyOf: [{ type: 'integer', minimum: 2 }, { type: 'null' }] })).toMatchObject({
    kind: 'number',
    min: 2,
    isNullable: true,
  })
})

test('local references, anchors and allOf are followed', () => {
  const root = {
    $defs: { name: { type: 'string', maxLength: 5 }, marked: { $anchor: 'here', type: 'boolean' } },
  }
  expect(fieldOf(root, { $ref: '#/$defs/name', title: 'Name' })).toMatchObject({ kind: 'text', maxLength: 5, title: 'Name' })
  expect(kindOf({ $ref: '#here' }, root)).toBe('boolean')
  const both = fieldOf(root, { allOf: [{ properties: { a: {} }, required: ['a'] }, { properties: { b: {} } }] })
  expect(both).toMatchObject({
    kind: 'object',
    properties: [
      { name: 'a', isRequired: true },
      { name: 'b', isRequired: false },
    ],
  })
})

test('a reference in a circle, out of the document or to nothing is raw JSON with the reason', () => {
  const root = { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }
  for (const $ref of ['#/$defs/a', 'https://other.example/schema', '#/nothing', '#/__proto__/x']) {
    expect(fieldOf(root, { $ref })).toMatchObject({ kind: 'any', reason: expect.stringContaining('refers') })
  }
})

test('fields keep the order of their author, and required names without a schema are there', () => {
  const field = fieldOf({}, { type: 'object', properties: { a: {}, b: {}, c: {} }, required: ['c', 'z'] })
  expect(field.kind === 'object' && field.properties.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'z'])
})

test('a variant is named by its title, its constant or its type', () => {
  const field = fieldOf({}, { oneOf: [{ title: 'File' }, { properties: { type: { const: 'web' } } }, { type: 'integer' }, {}] })
  expect(field.kind === 'union' && field.variants.map(({ label }) => label)).toEqual(['File', 'web', 'whole number', 'variant 4'])
})

test('the first value has defaults, constants and required groups', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { default: 3 },
      b: { type: 'object', properties: { c: { const: 'x' }, d: { type: 'string' } }, required: ['c', 'd'] },
      e: { type: 'object', properties: { f: { default: 1 } } },
      g: { type: 'array', items: { type: 'string' }, minItems: 2 },
    },
    required: ['b', 'g'],
  }
  expect(initialValue(schema)).toEqual({ a: 3, b: { c: 'x' }, g: ['', ''] })
})

test('a constant tells variants apart', () => {
  const file = { type: 'object', properties: { type: { const: 'file' } } }
  expect(fits({}, file, { type: 'file' })).toBe(true)
  expect(fits({}, file, { type: 'web' })).toBe(false)
  expect(fits({}, { type: 'string' }, 3)).toBe(false)
})

test('a schema that contains itself is drawn level by level', () => {
  const tree = { type: 'object', properties: { name: { type: 'string' }, child: { $ref: '#' } }, required: ['name', 'child'] }
  const first = initialValue(tree) as Record<string, unknown>
  expect(JSON.stringify(first).length).toBeLessThan(200)
  const field = fieldOf(tree, tree)
  expect(field.kind === 'object' && kindOf(field.properties[1]?.schema, tree)).toBe('object')
})

test('huge and deep schemas take no time', () => {
  const wide = { type: 'object', properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { default: i }])) }
  let deep: Schema = { type: 'string' }
  for (let i = 0; i < 10_000; i++) deep = { type: 'object', properties: { a: deep }, required: ['a'] }
  const bomb = {
    $defs: Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`d${i}`, { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }]),
    ),
  }
  const start = performance.now()
  initialValue(wide)
  initialValue(deep)
  expect(kindOf({ $ref: '#/$defs/d0' }, bomb)).toBe('any')
  expect(performance.now() - start).toBeLessThan(2_000)
})

test('a member named __proto__ is a member', () => {
  const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"default":1}},"required":["__proto__"]}') as Schema
  const value = initialValue(schema) as object
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
})

test.each([
  [{ type: 'string' }, 'a', 3],
  [{ type: 'string' }, '', null],
  [{ type: 'number' }, 3, { a: 1 }],
  [{ type: 'boolean' }, false, 'yes'],
  [{ enum: [1, 2] }, 1, 3],
  [{ type: 'array', items: { enum: ['x', 'y'] } }, ['x'], ['x', 'z']],
  [{ const: 'a' }, 'a', 'b'],
  [{ type: 'object' }, {}, []],
  [{ type: 'array' }, [], {}],
])('the field for %j draws %j, and %j becomes JSON', (schema, drawn, other) => {
  expect(canDraw(fieldOf({}, schema), drawn)).toBe(true)
  expect(canDraw(fieldOf({}, schema), undefined)).toBe(true)
  expect(canDraw(fieldOf({}, schema), other)).toBe(false)
})

test('a default of a secret is not used, because it would be sent behind dots', () => {
  const secret = { type: 'string', format: 'password', default: 'x' }
  expect(initialValue({ type: 'object', properties: { a: secret, b: secret }, required: ['a'] })).toEqual({})
})

test('a new row begins with an empty value of its type', () => {
  const schemas = [{ type: 'string' }, { type: ['string', 'null'] }, { type: 'array' }, { type: 'object' }, { type: 'number' }, {}]
  expect(schemas.map((schema) => emptyOf({}, schema))).toEqual(['', '', [], {}, null, null])
})
