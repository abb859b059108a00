import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { checkSchema } from '../../../src/protocol/schema/check-schema.ts'
import { proves } from '../../support/proves.ts'

const D2019 = 'https://json-schema.org/draft/2019-09/schema'
const D7 = 'http://json-schema.org/draft-07/schema#'
const options = { strict: false, validateFormats: false, logger: false } as const
const VALIDATORS: [name: string, $schema: string | undefined, ajv: Ajv][] = [
  ['2020-12', undefined, new Ajv2020(options)],
  ['2019-09', D2019, new Ajv2019(options)],
  ['draft-07', D7, new Ajv(options)],
]
/** The published schema of draft-07 says nothing of these, and people write them all the same. */
const NEWER = ['$defs', 'deprecated', 'writeOnly']

/** Values that a keyword may be given, right for some and wrong for the others. */
const VALUES: unknown[] = [
  true,
  0,
  -1,
  1.5,
  2,
  'string',
  'nonsense',
  '(',
  null,
  [],
  ['string'],
  ['a', 'a'],
  ['a', 5],
  [{}],
  [5],
  [true, { type: 'integer' }],
  {},
  { a: {} },
  { a: 5 },
  { a: ['b'] },
  { a: { type: 'nonsense' } },
  { a: { minLength: -1 } },
]

const KEYWORDS = [
  ...['$id', '$comment', 'title', 'description', 'format', 'type', 'enum', 'const', 'default', 'examples', 'readOnly', 'writeOnly'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'pattern'],
  ...['items', 'prefixItems', 'additionalItems', 'contains', 'minItems', 'maxItems', 'uniqueItems', 'minContains', 'maxContains'],
  ...['properties', 'patternProperties', 'additionalProperties', 'propertyNames', 'required', 'minProperties', 'maxProperties'],
  ...['dependentRequired', 'dependentSchemas', 'unevaluatedItems', 'unevaluatedProperties', 'deprecated', '$defs', 'definitions'],
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'x-unknown', 'contentMediaType', 'contentEncoding'],
]

/** Where the published schema of the dialect asks less, or more, than the text of the dialect. */
const isOdd = (keyword: string, value: unknown): boolean =>
  // An empty list of names to choose from is discouraged, not forbidden; draft-07 has its schema say otherwise.
  (keyword === 'enum' && Array.isArray(value)) ||
  // What an id must look like is judged where references are resolved.
  keyword === '$id' ||
  // Whether a pattern is an expression is a format, which Ajv is told to leave alone.
  (keyword === 'pattern' && typeof value === 'string')

describe.each(VALIDATORS)('a schema of %s', (_name, $schema, ajv) => {
  test.each($schema === D7 ? KEYWORDS.filter((keyword) => !NEWER.includes(keyword)) : KEYWORDS)(
    'a schema with %s of any kind is valid exactly when its published schema says so',
    (keyword) => {
      proves('R-BASE-013')
      for (const value of VALUES.filter((each) => !isOdd(keyword, each))) {
        const schema = { ...($schema ? { $schema } : {}), [keyword]: value }
        const deep = { ...($schema ? { $schema } : {}), properties: { p: { not: { [keyword]: value } } } }
        for (const each of [schema, deep]) expect(checkSchema(each) === undefined, JSON.stringify(each)).toBe(ajv.validateSchema(each))
      }
    },
  )
})

describe('a fault', () => {
  test.each<[unknown, string]>([
    [5, 'it must be a schema, not number (5)'],
    [{ properties: { a: { minLength: '3' } } }, 'properties.a.minLength must be an integer of 0 or more, not string ("3")'],
    [{ anyOf: [{}, { required: 'a' }] }, 'anyOf.1.required must be a list of different strings, not string ("a")'],
    [{ pattern: '(' }, 'pattern must be a regular expression, not string ("(")'],
    [{ items: [{}] }, 'items must be a schema, not array ([{}])'],
    [
      { $schema: 'http://example.com/x' },
      'its dialect "http://example.com/x" is not supported; supported are 2020-12, 2019-09, draft-07, draft-06',
    ],
  ])('a fault of %j is reported with its place', (schema, fault) => {
    expect(checkSchema(schema)).toBe(fault)
  })

  test.each<unknown>([
    true,
    {},
    { pattern: '[\\u{1F600}-\\u{1F64F}]' },
    { pattern: '^[\\w-.]+$' },
    { $schema: D7, items: [{}], additionalItems: false },
    { $schema: D7, $ref: '#/definitions/a', minLength: 'ignored' },
    { type: undefined, 'x-mcp-header': 'A', toString: 5 },
  ])('no fault is found in %j', (schema) => {
    expect(checkSchema(schema)).toBeUndefined()
  })
})
