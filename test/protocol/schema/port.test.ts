import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import Type from 'typebox'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type AnySchema, type InputOf, type ObjectOf, type OutputOf, schemaPort } from '../../../src/protocol/schema/any-schema.ts'
import type { JsonSchema } from '../../../src/protocol/schema/json-schema.ts'
import { proves } from '../../support/proves.ts'

const zodSchema = z.object({ id: z.int(), name: z.string().optional() })
const valibotSchema = v.object({ id: v.pipe(v.number(), v.integer()), name: v.optional(v.string()) })
const arktypeSchema = type({ id: 'number.integer', 'name?': 'string' })
const typeboxSchema = Type.Object({ id: Type.Integer(), name: Type.Optional(Type.String()) })
const plainSchema = { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } }, required: ['id'] } as const

const LIBRARIES: Record<string, AnySchema> = {
  zod: zodSchema,
  valibot: toStandardJsonSchema(valibotSchema),
  arktype: arktypeSchema,
  typebox: typeboxSchema,
  'plain JSON Schema': plainSchema,
}

describe.each(Object.entries(LIBRARIES))('a schema written with %s', (_library, schema) => {
  test('a schema is converted to JSON Schema without a dialect', () => {
    proves('R-BASE-014')
    const { json } = schemaPort(schema, 'input', 'here')
    expect(JSON.parse(JSON.stringify(json))).toMatchObject({
      type: 'object',
      properties: { id: { type: 'integer' }, name: { type: 'string' } },
      required: ['id'],
    })
    expect(json).not.toHaveProperty('$schema')
  })

  test('accepts what fits and says where and why something does not', async () => {
    const { check } = schemaPort(schema, 'input', 'here')
    expect(await check({ id: 1, name: 'x' })).toEqual({ ok: true, value: { id: 1, name: 'x' } })
    expect(await check({ id: 1 })).toEqual({ ok: true, value: { id: 1 } })
    for (const wrong of [{}, { id: 'x' }, { id: 1.5 }, { id: 1, name: 2 }, null, 'x', []])
      expect(await check(wrong)).toMatchObject({ ok: false })
    const checked = await check({ id: 1, name: 2 })
    expect(checked.ok ? [] : checked.issues).toEqual([{ path: ['name'], message: expect.stringMatching(/string/) as string }])
  })
})

describe('a schema that changes its value', () => {
  const length = z.object({
    text: z
      .string()
      .default('four')
      .transform((text) => text.length),
  })

  test('a schema that changes its value is shown by the side that the wire sees', () => {
    expect(schemaPort(length, 'input', 'here').json).toMatchObject({ properties: { text: { type: 'string', default: 'four' } } })
    const output = z.object({ count: z.number().default(1) })
    expect(schemaPort(output, 'output', 'here').json).toMatchObject({ required: ['count'] })
    expect(schemaPort(output, 'input', 'here').json).not.toHaveProperty('required')
  })

  test('a schema that changes its value gives what comes out', async () => {
    expect(await schemaPort(length, 'input', 'here').check({})).toEqual({ ok: true, value: { text: 4 } })
  })

  test('a schema that changes its value is refused on a side that JSON Schema cannot describe', () => {
    expect(() => schemaPort(length, 'output', 'tool "x" output')).toThrow(
      expect.objectContaining({
        code: 'ERR_SCHEMA',
        message: expect.stringMatching(/^tool "x" output: the zod schema cannot be written as JSON Schema \(.+\)$/) as string,
      }),
    )
  })
})

test('a check may take its time', async () => {
  const taken = z.object({ name: z.string().refine(async (name) => name !== 'taken', 'is taken') })
  const { check } = schemaPort(taken, 'input', 'here')
  expect(await check({ name: 'free' })).toEqual({ ok: true, value: { name: 'free' } })
  expect(await check({ name: 'taken' })).toEqual({ ok: false, issues: [{ path: ['name'], message: 'is taken' }] })
})

test('a plain schema checks formats and is compiled only when it is used', () => {
  const { check } = schemaPort({ type: 'string', format: 'email' }, 'input', 'here')
  expect(check('a@b')).toMatchObject({ ok: true })
  expect(check('a')).toMatchObject({ ok: false })
  const leadingOut = schemaPort({ $ref: 'https://example.com/a' }, 'input', 'here')
  expect(() => leadingOut.check(1)).toThrow('leads out of the document')
})

test('a plain schema that is not valid is refused before it is used, with the place of the fault', () => {
  proves('R-BASE-013')
  expect(() => schemaPort({ type: 'object', properties: { a: { type: 'nonsense' } } } as JsonSchema, 'input', 'Tool "x" input')).toThrow(
    expect.objectContaining({
      code: 'ERR_SCHEMA',
      message: expect.stringMatching(
        /^Tool "x" input: the schema is not valid: properties\.a\.type must be one of .*, not string \("nonsense"\)$/,
      ),
    }),
  )
})

test('a path may have steps of every kind', async () => {
  const odd: AnySchema = {
    '~standard': {
      version: 1,
      vendor: 'odd',
      validate: () => ({ issues: [{ message: 'm', path: ['a', 0, { key: 'b' }, { key: 1 }, Symbol.for('s')] }, { message: 'n' }] }),
      jsonSchema: { input: () => ({}), output: () => ({}) },
    },
  } as unknown as AnySchema
  const checked = await schemaPort(odd, 'input', 'here').check(1)
  expect(checked.ok ? [] : checked.issues).toEqual([
    { path: ['a', 0, 'b', 1, 'Symbol(s)'], message: 'm' },
    { path: [], message: 'n' },
  ])
})

describe('what cannot be used', () => {
  test('a plain valibot schema cannot be used, and the error says how to wrap it', () => {
    expect(() => schemaPort(valibotSchema, 'input', 'tool "x" input')).toThrow(
      expect.objectContaining({
        code: 'ERR_SCHEMA',
        message:
          'tool "x" input: this valibot schema has no JSON Schema form; wrap it in toStandardJsonSchema() of @valibot/to-json-schema',
      }),
    )
  })

  test('a schema of a library without JSON Schema output cannot be used', () => {
    const old = { '~standard': { version: 1, vendor: 'old', validate: (value: unknown) => ({ value }) } } as const
    expect(() => schemaPort(old, 'input', 'here')).toThrow(
      'here: this old schema has no JSON Schema form; use a version that has one, or give a JSON Schema',
    )
  })

  test.each([undefined, null, 1, 'string'])('%s cannot be used as a schema', (nothing) => {
    expect(() => schemaPort(nothing as never, 'input', 'here')).toThrow(/^here: expected a Standard Schema or a JSON Schema object, got /)
  })
})

describe('types', () => {
  test('types follow from the schema of each library', () => {
    expectTypeOf<OutputOf<typeof zodSchema>>().toEqualTypeOf<{ id: number; name?: string | undefined }>()
    expectTypeOf<OutputOf<typeof valibotSchema>>().toEqualTypeOf<{ id: number; name?: string | undefined }>()
    expectTypeOf<OutputOf<typeof arktypeSchema>>().toEqualTypeOf<{ id: number; name?: string }>()
    expectTypeOf<OutputOf<typeof typeboxSchema>>().toExtend<{ id: number; name?: string }>()
    expectTypeOf<{ id: number }>().toExtend<OutputOf<typeof typeboxSchema>>()
    expectTypeOf<OutputOf<typeof plainSchema>>().toExtend<{ id: number; name?: string }>()
    expectTypeOf<{ id: number }>().toExtend<OutputOf<typeof plainSchema>>()
    expectTypeOf<{ name: string }>().not.toExtend<OutputOf<typeof plainSchema>>()
  })

  test('types distinguish input and output', () => {
    const schema = z.object({ text: z.string().default('x').transform(Number) })
    expectTypeOf<InputOf<typeof schema>>().toEqualTypeOf<{ text?: string | undefined }>()
    expectTypeOf<OutputOf<typeof schema>>().toEqualTypeOf<{ text: number }>()
  })

  test('types are a plain object where TypeScript cannot read the schema', () => {
    expectTypeOf<ObjectOf<{ oneOf: [] }>>().toEqualTypeOf<Record<string, unknown>>()
    expectTypeOf<ObjectOf<typeof zodSchema>>().toEqualTypeOf<{ id: number; name?: string | undefined }>()
  })
})
