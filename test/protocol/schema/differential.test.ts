/** Another implementation is asked the same questions: whatever the schema and the value, the verdict must be the same. */

import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compile } from '../../../src/protocol/schema/compile.ts'
import { compileForeign } from '../../../src/protocol/schema/foreign.ts'
import { proves } from '../../support/proves.ts'

type Schema = boolean | Record<string, unknown>

const key = fc.constantFrom('a', 'b', 'c', 'ab')
const count = fc.integer({ min: 0, max: 3 })
const scalar = fc.oneof(
  fc.constantFrom(null, true, false, '', 'a', 'ab', 'é😀', 'abc'),
  fc.integer({ min: -3, max: 6 }),
  fc.constantFrom(0.5, 2.5),
)

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

/** Keywords of every dialect side by side: one that a dialect does not have must mean nothing in it. */
const { schema } = fc.letrec<{ schema: Schema; list: Schema[] }>((tie) => {
  const one = tie('schema')
  const list = fc.array(one, { minLength: 1, maxLength: 3 })
  const map = fc.dictionary(key, one, { maxKeys: 3, noNullPrototype: true })
  const names = fc.uniqueArray(key, { maxLength: 2 })
  const type = fc.constantFrom('null', 'boolean', 'number', 'integer', 'string', 'array', 'object')
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
    const: value,
    enum: fc.uniqueArray(value, { minLength: 1, maxLength: 4, comparator: 'SameValue' }),
    minimum: fc.integer({ min: -3, max: 6 }),
    maximum: fc.integer({ min: -3, max: 6 }),
    exclusiveMinimum: fc.integer({ min: -3, max: 6 }),
    exclusiveMaximum: fc.integer({ min: -3, max: 6 }),
    multipleOf: fc.constantFrom(1, 2, 3, 0.5),
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom('^a', 'b$', '^a?b*$', '[aé]', '^.$'),
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    items: one,
    prefixItems: list,
    additionalItems: one,
    contains: one,
    minContains: count,
    maxContains: count,
    unevaluatedItems: one,
    properties: map,
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b', '^c$'), one, { maxKeys: 2, noNullPrototype: true }),
    additionalProperties: one,
    propertyNames: one,
    required: names,
    minProperties: count,
    maxProperties: count,
    dependentRequired: fc.dictionary(key, names, { maxKeys: 2, noNullPrototype: true }),
    dependentSchemas: map,
    dependencies: fc.dictionary(key, fc.oneof(names, one), { maxKeys: 2, noNullPrototype: true }),
    unevaluatedProperties: one,
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: one,
    if: one,
    then: one,
    else: one,
    $ref: fc.constantFrom('#/definitions/a', '#/definitions/b'),
    title: fc.constant('text'),
  }
  const entry = fc
    .constantFrom(...Object.keys(keywords))
    .chain((keyword) => fc.tuple(fc.constant(keyword), keywords[keyword] as fc.Arbitrary<unknown>))
  return {
    list,
    schema: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.boolean(),
      fc.array(entry, { maxLength: 4 }).map((entries) => Object.fromEntries(entries) as Schema),
    ),
  }
})

/** `a` may lead to `b`, and neither to itself. */
const withoutRef = (each: Schema, ref: string): Schema => JSON.parse(JSON.stringify(each).replaceAll(ref, '#/definitions/c')) as Schema

const document = fc.tuple(schema, schema, schema).map(([root, a, b]) => ({
  ...(typeof root === 'boolean' ? { not: !root } : root),
  definitions: {
    a: withoutRef(a, '#/definitions/a'),
    b: withoutRef(withoutRef(b, '#/definitions/a'), '#/definitions/b'),
    c: { minimum: 2, maxLength: 2, maxProperties: 2 },
  },
}))

const options = { strict: false, validateFormats: false, validateSchema: false, logger: false } as const

type Edit = (keywords: Record<string, unknown>) => Record<string, unknown>

/** Every subschema changed by `edit`; what is no schema in these documents has none of the keywords that are changed. */
const edited = (node: unknown, edit: Edit): unknown => {
  if (Array.isArray(node)) return node.map((each) => edited(each, edit))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(Object.entries(edit(node as Record<string, unknown>)).map(([name, each]) => [name, edited(each, edit)]))
}

const omit = (node: object, ...names: string[]): object =>
  edited(node, (keywords) => Object.fromEntries(Object.entries(keywords).filter(([name]) => !names.includes(name)))) as object

const UNEVALUATED = ['unevaluatedItems', 'unevaluatedProperties']

const evaluated = (root: object): object => omit(root, ...UNEVALUATED)

/** At the root only, and not beside that of which Ajv forgets, or wrongly thinks, that it was looked at. */
const unevaluated = (root: object): object => {
  const { unevaluatedItems, unevaluatedProperties, ...rest } = root as Record<string, unknown>
  const asked = unevaluatedItems === undefined ? { unevaluatedProperties: unevaluatedProperties ?? false } : { unevaluatedItems }
  return { ...omit(rest, ...UNEVALUATED, ...'contains anyOf oneOf not if dependentSchemas dependencies'.split(' ')), ...asked }
}

// Where nobody asks what was looked at, Ajv must not keep account of it either: that makes it fail.
const unaccounted = <T extends Ajv2019 | Ajv2020>(ajv: T): T => {
  ajv.opts.unevaluated = false
  return ajv
}

// Of an empty list in a list Ajv thinks that it contains what the list before it did.
const filled: Edit = (keywords) =>
  'contains' in keywords ? { ...keywords, minItems: Math.max(1, Number(keywords.minItems ?? 0)) } : keywords
// Ajv judges by the keywords beside a $ref in every dialect.
const refAlone: Edit = (keywords) =>
  typeof keywords.$ref === 'string'
    ? { $ref: keywords.$ref, ...('definitions' in keywords ? { definitions: keywords.definitions } : {}) }
    : keywords

const D2019 = 'https://json-schema.org/draft/2019-09/schema'
const D7 = 'http://json-schema.org/draft-07/schema#'

const DIALECTS: [name: string, $schema: string | undefined, make: () => Ajv | Ajv2019 | Ajv2020, edit: (root: object) => object][] = [
  ['2020-12', undefined, () => unaccounted(new Ajv2020(options)), evaluated],
  ['2020-12 with unevaluated parts', undefined, () => new Ajv2020(options), unevaluated],
  ['2019-09', D2019, () => unaccounted(new Ajv2019(options)), evaluated],
  ['2019-09 with unevaluated parts', D2019, () => new Ajv2019(options), unevaluated],
  ['draft-07', D7, () => new Ajv(options), (root) => edited(root, refAlone) as object],
]

test.each(DIALECTS)(
  '%s: thousands of schemas and values get the same verdict as by Ajv',
  { timeout: 60_000 },
  (_name, $schema, make, edit) => {
    proves('R-BASE-009', 'R-BASE-011')
    const ajv = make()
    let [accepted, refused] = [0, 0]
    fc.assert(
      fc.property(document, fc.array(value, { minLength: 4, maxLength: 8 }), (root, values) => {
        const whole = { ...($schema === undefined ? {} : { $schema }), ...(edited(edit(root), filled) as object) }
        const theirs = ajv.compile(whole)
        const ours = compile(whole)
        for (const each of values) {
          const expected = theirs(each)
          if (expected) accepted++
          else refused++
          const checked = ours(each)
          expect(checked.ok, JSON.stringify(each)).toBe(expected)
          if (!checked.ok) expect(checked.issues.length, JSON.stringify(each)).toBeGreaterThan(0)
        }
        ajv.removeSchema(whole)
      }),
      // The same questions every time: Ajv has faults that a lucky guess would find.
      { numRuns: 500, seed: 7 },
    )
    expect(Math.min(accepted, refused)).toBeGreaterThan(300)
  },
)

test('a schema of a peer is judged like one of ours', async () => {
  await fc.assert(
    fc.asyncProperty(document, fc.array(value, { minLength: 2, maxLength: 4 }), async (root, values) => {
      const ours = compile(root)
      const foreign = await compileForeign(root)
      for (const each of values) expect(foreign(each)).toEqual(ours(each))
    }),
    { numRuns: 300 },
  )
})
