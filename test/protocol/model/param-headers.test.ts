import { describe, expect, test } from 'vitest'
import { mirroredIn, type ParamHeader, paramHeaders } from '../../../src/protocol/model/param-headers.ts'
import type { JsonSchema } from '../../../src/protocol/schema/json-schema.ts'
import { proves } from '../../support/proves.ts'

const object = (properties: Record<string, unknown>, rest: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...rest })
const header = (name: unknown, type: unknown = 'string'): JsonSchema => ({ type, 'x-mcp-header': name }) as JsonSchema

describe('annotations that a chain of properties leads to', () => {
  test('header annotations are found with the path of their value, at any depth', () => {
    proves('R-HDR-014', 'R-HDR-016', 'R-HDR-018')
    const schema = object({
      region: header('Region'),
      query: { type: 'string' },
      options: object({ limit: header('Limit', 'integer'), deep: object({ dry: header('Dry-Run', 'boolean') }) }),
    })
    expect(paramHeaders(schema)).toEqual({
      headers: [
        { name: 'Region', path: ['region'], type: 'string' },
        { name: 'Limit', path: ['options', 'limit'], type: 'integer' },
        { name: 'Dry-Run', path: ['options', 'deep', 'dry'], type: 'boolean' },
      ],
    })
  })

  test('a schema may have no header annotations', () => {
    expect(paramHeaders(object({ a: { type: 'string' } }))).toEqual({ headers: [] })
    expect(paramHeaders({ type: 'object' })).toEqual({ headers: [] })
  })

  test('header annotations may have every character of a token', () => {
    proves('R-HDR-012')
    const name = "!#$%&'*+-.^_`|~09AZaz"
    expect(paramHeaders(object({ a: header(name) })).headers).toEqual([{ name, path: ['a'], type: 'string' }])
  })

  test('data and property names are not read as header annotations', () => {
    const schema = object(
      {
        'x-mcp-header': { type: 'string' },
        a: {
          type: 'object',
          const: { 'x-mcp-header': 'A' },
          default: { 'x-mcp-header': 'A' },
          enum: [{ 'x-mcp-header': 'A' }],
          examples: [{ 'x-mcp-header': 'A' }],
        },
        list: { type: 'array', items: object({ 'x-mcp-header': { type: 'string' }, default: { type: 'string' } }) },
      },
      { required: ['x-mcp-header'] },
    )
    expect(paramHeaders(schema)).toEqual({ headers: [] })
  })
})

describe('a tool is invalid', () => {
  const NOT_A_NAME = 'is not the name of a header'
  const NOT_PLAIN = 'x-mcp-header is allowed on properties only'
  const TYPE = 'only a string, an integer or a boolean can be mirrored'

  test.each<[why: string, schema: JsonSchema, fault: string]>([
    ['a name is empty', object({ a: header('') }), `property "a": "" ${NOT_A_NAME}`],
    ['a name has a space', object({ a: header('A B') }), NOT_A_NAME],
    ['a name has a line break', object({ a: header('A\r\nX: y') }), NOT_A_NAME],
    ['a name ends in a line break', object({ a: header('A\n') }), NOT_A_NAME],
    ['a name has a bracket', object({ a: header('a(b') }), NOT_A_NAME],
    ['a name has a comma', object({ a: header('a,b') }), NOT_A_NAME],
    ['a name has a colon', object({ a: header('A:') }), NOT_A_NAME],
    ['a name has a letter beyond ASCII', object({ a: header('Ä') }), NOT_A_NAME],
    ['a name is no text', object({ a: header(7) }), `property "a": 7 ${NOT_A_NAME}`],
    [
      'a name is used twice',
      object({ a: header('X'), b: object({ c: header('X') }) }),
      'property "b.c": the header name "X" is used twice',
    ],
    ['two names differ only in case', object({ a: header('Region'), b: header('REGION') }), 'used twice'],
    ['the value is a number', object({ a: header('X', 'number') }), `property "a": ${TYPE}, not "number"`],
    ['the value is an object', object({ a: header('X', 'object') }), TYPE],
    ['the value is a list', object({ a: header('X', 'array') }), TYPE],
    ['the value is null', object({ a: header('X', 'null') }), TYPE],
    ['the value may be of several types', object({ a: header('X', ['string', 'null']) }), TYPE],
    ['the value has no type', object({ a: { 'x-mcp-header': 'X' } }), `${TYPE}, not "any value"`],
    ['the whole input is annotated', { ...object({}), 'x-mcp-header': 'X' }, NOT_PLAIN],
    ['an item of a list is annotated', object({ a: { type: 'array', items: header('X') } }), NOT_PLAIN],
    ['a property of an item is annotated', object({ a: { type: 'array', items: object({ b: header('X') }) } }), NOT_PLAIN],
    [
      'a property of an item that is named like data is annotated',
      object({ a: { type: 'array', items: object({ default: header('X') }) } }),
      NOT_PLAIN,
    ],
    ['an item by place is annotated', object({ a: { type: 'array', prefixItems: [header('X')] } }), NOT_PLAIN],
    ['what a list contains is annotated', object({ a: { type: 'array', contains: header('X') } }), NOT_PLAIN],
    ...['oneOf', 'anyOf', 'allOf'].map((keyword): [string, JsonSchema, string] => [
      `an alternative of ${keyword} is annotated`,
      object({}, { [keyword]: [object({ a: header('X') })] }),
      NOT_PLAIN,
    ]),
    ...['not', 'if', 'then', 'else', 'additionalProperties', 'propertyNames', 'unevaluatedProperties'].map(
      (keyword): [string, JsonSchema, string] => [
        `a property below ${keyword} is annotated`,
        object({}, { [keyword]: object({ a: header('X') }) }),
        NOT_PLAIN,
      ],
    ),
    ...['$defs', 'definitions', 'patternProperties', 'dependentSchemas'].map((keyword): [string, JsonSchema, string] => [
      `a schema in ${keyword} is annotated`,
      object({ a: { $ref: '#/$defs/a' } }, { [keyword]: { enum: header('X') } }),
      NOT_PLAIN,
    ]),
    ['a place that is no keyword is annotated', object({}, { 'x-more': { a: header('X') } }), NOT_PLAIN],
  ])('a tool is invalid when %s', (_why, schema, fault) => {
    proves('R-VER-012', 'R-HDR-012', 'R-HDR-013', 'R-HDR-014', 'R-HDR-016', 'R-HDR-017')
    const judged = paramHeaders(schema)
    expect(judged.headers).toBeUndefined()
    expect(judged.fault).toContain(fault)
  })

  test('a tool is invalid when an annotation could be below the depth limit', () => {
    const nested = (levels: number): JsonSchema => (levels === 0 ? header('X') : object({ a: nested(levels - 1) }))
    expect(paramHeaders(nested(64)).headers).toHaveLength(1)
    expect(paramHeaders(nested(65)).fault).toBe('the schema nests deeper than 64 levels')
  })
})

describe('the values of one call', () => {
  const headers: ParamHeader[] = [
    { name: 'Region', path: ['region'], type: 'string' },
    { name: 'Limit', path: ['options', 'limit'], type: 'integer' },
  ]
  const limited = (limit: unknown) => mirroredIn(headers, { options: { limit } })

  test.each([
    [5, '5'],
    [5.0, '5'],
    [-0, '0'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [Number.MIN_SAFE_INTEGER, '-9007199254740991'],
  ])('the integer %d is sent as %s', (value, text) => {
    proves('R-HDR-015')
    expect(limited(value)).toEqual([{ name: 'Limit', value: text }])
  })

  test.each([2 ** 53, -(2 ** 53), 5.5, 1e21, Number.NaN, Number.POSITIVE_INFINITY, '5', true, {}, []])(
    'for an integer parameter %j is an error that names the argument and the range',
    (value) => {
      proves('R-HDR-015')
      expect(() => limited(value)).toThrow(/"options\.limit".* integer from -9007199254740991 to 9007199254740991, not /)
    },
  )

  test.each([undefined, null])('the value %j has no header', (value) => {
    expect(limited(value)).toEqual([])
  })
})
