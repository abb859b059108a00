import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import Type from 'typebox'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { FormSchema } from '../../../src/protocol/model/elicitation.ts'
import { type AnySchema, schemaPort } from '../../../src/protocol/schema/any-schema.ts'
import { compile } from '../../../src/protocol/schema/compile.ts'
import { toFormSchema } from '../../../src/protocol/schema/form.ts'
import type { JsonSchema } from '../../../src/protocol/schema/json-schema.ts'
import { proves } from '../../support/proves.ts'
import { definitionsOf, hasPublishedSchemas } from '../../support/published-schemas.ts'

const formOf = (schema: AnySchema): FormSchema => toFormSchema(schemaPort(schema, 'input', 'form').json)
const fieldOf = (field: JsonSchema): unknown => toFormSchema({ type: 'object', properties: { field } }).properties.field

const EXPECTED = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', minLength: 1 },
    mail: { type: 'string', format: 'email' },
    age: { type: 'integer', minimum: 1 },
    color: { type: 'string', enum: ['red', 'blue'] },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
    only: { type: 'string', enum: ['x'] },
    sure: { type: 'boolean' },
  },
}

const BY_LIBRARY: Record<string, AnySchema> = {
  zod: z.object({
    name: z.string().min(1).meta({ title: 'Name' }),
    mail: z.email(),
    age: z.int().positive(),
    color: z.enum(['red', 'blue']),
    tags: z.array(z.enum(['a', 'b'])),
    only: z.literal('x'),
    sure: z.boolean().optional(),
  }),
  valibot: toStandardJsonSchema(
    v.object({
      name: v.pipe(v.string(), v.minLength(1), v.title('Name')),
      mail: v.pipe(v.string(), v.email()),
      age: v.pipe(v.number(), v.integer(), v.minValue(1)),
      color: v.picklist(['red', 'blue']),
      tags: v.array(v.picklist(['a', 'b'])),
      only: v.literal('x'),
      sure: v.optional(v.boolean()),
    }),
  ),
  arktype: type({
    name: type('string >= 1').configure({ title: 'Name' } as never),
    mail: 'string.email',
    age: 'number.integer >= 1',
    color: "'red' | 'blue'",
    tags: "('a' | 'b')[]",
    only: "'x'",
    'sure?': 'boolean',
  }),
  typebox: Type.Object({
    name: Type.String({ minLength: 1, title: 'Name' }),
    mail: Type.String({ format: 'email' }),
    age: Type.Integer({ minimum: 1 }),
    color: Type.Union([Type.Literal('red'), Type.Literal('blue')]),
    tags: Type.Array(Type.Union([Type.Literal('a'), Type.Literal('b')])),
    only: Type.Literal('x'),
    sure: Type.Optional(Type.Boolean()),
  }),
  'JSON Schema': {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', minLength: 1, examples: ['x'] },
      mail: { type: 'string', format: 'email', pattern: '@' },
      age: { type: 'integer', exclusiveMinimum: 0.5 },
      color: { enum: ['red', 'blue'] },
      tags: { type: 'array', items: { enum: ['a', 'b'] }, uniqueItems: true },
      only: { const: 'x' },
      sure: { type: 'boolean' },
    },
    required: ['name', 'mail', 'age', 'color', 'tags', 'only', 'elsewhere'],
    additionalProperties: false,
  },
}

describe.each(Object.entries(BY_LIBRARY))('a form written with %s', (name, schema) => {
  test('a form has the fields that can be shown, and no keyword that only a validator reads', () => {
    proves('T-ELIC-021')
    const { required, ...form } = formOf(schema)
    const expected = structuredClone(EXPECTED)
    // arktype sorts what a value may be.
    if (name === 'arktype') expected.properties.color.enum.sort()
    expect(form).toEqual(expected)
    expect(required?.toSorted()).toEqual(['age', 'color', 'mail', 'name', 'only', 'tags'])
  })
})

describe('a field', () => {
  const FIELDS: [JsonSchema, unknown][] = [
    [{ type: 'string' }, { type: 'string' }],
    [
      { type: 'string', title: 'T', description: 'D', minLength: 1, maxLength: 9, default: 'x', $comment: 'c' },
      { type: 'string', title: 'T', description: 'D', minLength: 1, maxLength: 9, default: 'x' },
    ],
    ...['email', 'uri', 'date', 'date-time'].map((format): [JsonSchema, unknown] => [
      { type: 'string', format, pattern: 'x' },
      { type: 'string', format },
    ]),
    [
      { type: 'number', minimum: 0, maximum: 1.5, default: 1 },
      { type: 'number', minimum: 0, maximum: 1.5, default: 1 },
    ],
    [{ type: 'number', exclusiveMinimum: 0 }, { type: 'number' }],
    [
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9 },
      { type: 'integer', minimum: 1, maximum: 8 },
    ],
    [
      { type: 'integer', exclusiveMinimum: 0.5, exclusiveMaximum: 8.5 },
      { type: 'integer', minimum: 1, maximum: 8 },
    ],
    [{ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }, { type: 'integer' }],
    [
      { type: 'boolean', default: false, title: 'T' },
      { type: 'boolean', default: false, title: 'T' },
    ],
    [
      { type: 'string', enum: ['a', 'b'], default: 'a' },
      { type: 'string', enum: ['a', 'b'], default: 'a' },
    ],
    [
      { type: 'string', enum: ['a'], enumNames: ['A'] },
      { type: 'string', enum: ['a'], enumNames: ['A'] },
    ],
    [
      {
        oneOf: [
          { const: 'a', title: 'A' },
          { const: 'b', title: 'B' },
        ],
        default: 'b',
      },
      {
        type: 'string',
        oneOf: [
          { const: 'a', title: 'A' },
          { const: 'b', title: 'B' },
        ],
        default: 'b',
      },
    ],
    [{ anyOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, { type: 'string', enum: ['a', 'b'] }],
    [
      { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, minItems: 1, maxItems: 1, default: ['a'], title: 'T' },
      { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, minItems: 1, maxItems: 1, default: ['a'], title: 'T' },
    ],
  ]
  test.each(FIELDS)('the field %j is shown as %j', (schema, field) => {
    expect(fieldOf(schema)).toEqual(field)
    if (!hasPublishedSchemas) return console.warn('NOTE: not judged by the published schema, which is not here')
    const validate = definitionsOf('2026-07-28').validate('PrimitiveSchemaDefinition')
    expect(validate(fieldOf(schema)), JSON.stringify(validate.errors)).toBe(true)
  })

  test('a field of every kind keeps its default', () => {
    proves('T-ELIC-034')
    const DEFAULTS: [JsonSchema, unknown][] = [
      [{ type: 'string' }, 'x'],
      [{ type: 'number' }, 1.5],
      [{ type: 'integer' }, 0],
      [{ type: 'boolean' }, false],
      [{ type: 'string', enum: ['a'] }, 'a'],
      [{ oneOf: [{ const: 'a', title: 'A' }] }, 'a'],
      [{ type: 'array', items: { enum: ['a', 'b'] } }, ['b']],
    ]
    for (const [schema, value] of DEFAULTS) expect(fieldOf({ ...schema, default: value })).toMatchObject({ default: value })
  })

  test('a field keeps its expression, and no format that a form does not have', () => {
    proves('T-ELIC-024', 'T-ELIC-025', 'R-ELIC-004')
    expect(fieldOf({ type: 'string', pattern: '^a' })).toEqual({ type: 'string', pattern: '^a' })
    expect(fieldOf({ type: 'string', pattern: '^a', format: 'uuid' })).toEqual({ type: 'string', pattern: '^a' })
  })

  test.each<[JsonSchema | unknown, string]>([
    [{ type: 'object', properties: {} }, '"object"'],
    [{ type: 'array', items: { type: 'object' } }, 'is a list; a list in a form must offer fixed choices (`items.enum`)'],
    [{ type: 'array', items: { type: 'string' } }, 'is a list; a list in a form must offer fixed choices (`items.enum`)'],
    [{ type: 'array' }, 'is a list'],
    [{ type: 'null' }, '"null"'],
    [{ type: ['string', 'null'] }, '["string","null"]'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'has no type'],
    [{ $ref: '#/$defs/a' }, 'has no type'],
    [{}, 'has no type; a form allows only strings, numbers, booleans and choices'],
    [true, 'has no schema'],
  ])('a field that is %j is refused: %s', (field, reason) => {
    expect(() => fieldOf(field as JsonSchema)).toThrow(
      expect.objectContaining({ code: 'ERR_SCHEMA', message: expect.stringContaining(reason) as string }),
    )
    expect(() => fieldOf(field as JsonSchema)).toThrow('form field "field"')
  })
})

test.each<JsonSchema>([{ type: 'string' }, { type: 'object' }, { properties: { a: { type: 'string' } } }, { type: 'array', items: {} }])(
  'the schema %j is not a form',
  (schema) => {
    expect(() => toFormSchema(schema)).toThrow('The schema is refused: a form is an object with "properties"')
  },
)

describe('a field that asks for a secret', () => {
  const formWith = (name: string, field: JsonSchema = { type: 'string' }) => toFormSchema({ type: 'object', properties: { [name]: field } })

  test.each([
    'password',
    'newPassword',
    'pass_phrase',
    'passwd',
    'clientSecret',
    'API-Key',
    'apikey',
    'privateKey',
    'access_token',
    'PIN',
    'cvc',
  ])('a field that asks for a secret is refused when it is called %s', (name) => {
    proves('T-ELIC-004')
    expect(() => formWith(name)).toThrow(`form field "${name}" asks for a secret`)
    expect(() => formWith('field', { type: 'string', title: name })).toThrow('form field "field" asks for a secret')
  })

  test('a field that asks for a secret is refused when its format says so', () => {
    proves('T-ELIC-004')
    expect(() => formWith('field', { type: 'string', format: 'password' })).toThrow('asks for a secret')
  })

  test.each(['secretary', 'token', 'maxTokens', 'key', 'pinColor', 'compass', 'description', 'title'])(
    'the field %s does not ask for a secret',
    (name) => {
      expect(formWith(name).properties).toHaveProperty(name)
    },
  )

  test('a choice, a number or a boolean about a secret does not ask for one', () => {
    expect(formWith('rememberPassword', { type: 'boolean' }).properties).toHaveProperty('rememberPassword')
    expect(formWith('passwordLength', { type: 'integer' }).properties).toHaveProperty('passwordLength')
    expect(formWith('secretStore', { type: 'string', enum: ['vault', 'file'] }).properties).toHaveProperty('secretStore')
  })
})

describe('the answer to a form is judged by each keyword of its fields', () => {
  const judge = (field: JsonSchema, good: unknown[], bad: unknown[]): void => {
    const validate = compile(toFormSchema({ type: 'object', properties: { it: field }, required: ['it'] }), { assertsFormats: true })
    for (const it of good) expect(validate({ it }).ok, JSON.stringify(it)).toBe(true)
    for (const it of bad) expect(validate({ it }).ok, JSON.stringify(it)).toBe(false)
    expect(validate({}).ok).toBe(false)
  }

  test('text in an answer is checked by length and expression', () => {
    proves('T-ELIC-023', 'T-ELIC-024')
    judge({ type: 'string', minLength: 2, maxLength: 3 }, ['ab', 'abc'], ['a', 'abcd', 1, null])
    judge({ type: 'string', pattern: '^[a-z]+$' }, ['abc'], ['ABC', ''])
  })

  test('text in an answer is checked by each of the four formats', () => {
    proves('T-ELIC-025')
    judge({ type: 'string', format: 'email' }, ['a@example.com'], ['a'])
    judge({ type: 'string', format: 'uri' }, ['https://example.com'], ['example'])
    judge({ type: 'string', format: 'date' }, ['2025-06-18'], ['18.6.2025'])
    judge({ type: 'string', format: 'date-time' }, ['2025-06-18T10:00:00Z'], ['2025-06-18'])
  })

  test('numbers in an answer are checked by type and range, booleans by type', () => {
    proves('T-ELIC-026', 'T-ELIC-027')
    judge({ type: 'integer', minimum: 1, maximum: 3 }, [1, 3], [0, 4, 1.5, '1'])
    judge({ type: 'number', minimum: 1, maximum: 3 }, [1.5], [0.5, 3.5])
    judge({ type: 'boolean' }, [true, false], ['true', 0])
  })

  test('choices in an answer are checked by membership and count', () => {
    proves('T-ELIC-028', 'T-ELIC-029', 'T-ELIC-030', 'T-ELIC-031', 'T-ELIC-032')
    judge({ type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] }, ['a', 'b'], ['A', 'c', ['a']])
    judge({ type: 'string', oneOf: [{ const: 'a', title: 'A' }] }, ['a'], ['A', 'b'])
    judge(
      { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1, maxItems: 2 },
      [['a'], ['a', 'b']],
      [[], ['a', 'b', 'c'], ['d'], 'a'],
    )
    judge({ type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }, [['a'], []], [['A']])
  })
})
