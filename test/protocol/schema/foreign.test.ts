import { describe, expect, test } from 'vitest'
import { FOREIGN_SCHEMA_BOUNDS } from '../../../src/protocol/schema/document.ts'
import { compileForeign } from '../../../src/protocol/schema/foreign.ts'
import type { JsonSchema } from '../../../src/protocol/schema/json-schema.ts'

// The bar is 50 ms on a quiet machine; this one may be busy.
const MOST_MS = 250

/** The verdict, or the reason for refusing the schema; the quickest of three, since others run at the same time. */
async function judge(schema: unknown, value: unknown): Promise<{ verdict: boolean | string; ms: number }> {
  const runs: { verdict: boolean | string; ms: number }[] = []
  for (let i = 0; i < 3; i++) {
    const before = performance.now()
    const verdict = await compileForeign(schema).then(
      (validate) => {
        try {
          return validate(value).ok
        } catch (error) {
          return (error as Error).message
        }
      },
      (error: Error) => error.message,
    )
    runs.push({ verdict, ms: performance.now() - before })
    if (performance.now() - before > 5000) break
  }
  return runs.reduce((best, run) => (run.ms < best.ms ? run : best))
}

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

describe('an expression of a peer', () => {
  const EVIL = '^(a+)+$'
  const payload = `${'a'.repeat(31)}!`

  test('an expression of a peer is run in linear time wherever it stands', async () => {
    await compileForeign({ pattern: 'warm' })
    const schemas: [JsonSchema, unknown][] = [
      [{ pattern: EVIL }, payload],
      [{ properties: { a: { pattern: EVIL } } }, { a: payload }],
      [{ patternProperties: { [EVIL]: false }, additionalProperties: false }, { [payload]: 1 }],
      [{ propertyNames: { pattern: EVIL } }, { [payload]: 1 }],
      [{ 'x-hidden': { pattern: EVIL }, $ref: '#/x-hidden' }, payload],
      [{ 'x-hidden': { patternProperties: { [EVIL]: true }, additionalProperties: false }, $ref: '#/x-hidden' }, { [payload]: 1 }],
      [{ const: 1, default: { pattern: EVIL }, anyOf: [{ $ref: '#/default' }] }, payload],
      [JSON.parse('{"x":{"\\u0070attern":"^(a+)+$"},"$ref":"#/x"}'), payload],
    ]
    for (const [schema, value] of schemas) {
      const { verdict, ms } = await judge(schema, value)
      expect(verdict, JSON.stringify(schema)).toBe(false)
      expect(ms, JSON.stringify(schema)).toBeLessThan(MOST_MS)
    }
  })

  test('a safe pattern of a peer works as usual', async () => {
    const validate = await compileForeign({ pattern: '^\\p{Lu}[a-z]{2,3}\\d$' })
    expect(validate('Abc1').ok).toBe(true)
    expect(validate('abc1').ok).toBe(false)
    expect((await compileForeign({ pattern: EVIL }))('aaa').ok).toBe(true)
  })

  test.each(['(?=a)b', '(?!a)b', '(?<=a)b', '(a)\\1'])('an expression of a peer without a linear form is dropped: %s', async (pattern) => {
    const validate = await compileForeign({ type: 'string', pattern })
    expect(validate('anything').ok).toBe(true)
    expect(validate(1).ok).toBe(false)
  })

  test('an expression of a peer is refused when it is large once its repetitions are written out', async () => {
    const refused = `The schema is refused: its regular expressions are too large: at most 5000 states with repetitions written out (maxPatternSize)`
    for (const pattern of ['a{1000}'.repeat(6), '((a{100}){100}){100}', '(a?){900}'.repeat(6), 'x'.repeat(5001)]) {
      const { verdict, ms } = await judge({ pattern }, 'a')
      expect(verdict).toBe(refused)
      expect(ms).toBeLessThan(MOST_MS)
    }
    const { verdict, ms } = await judge({ allOf: times(1900, (i) => ({ pattern: `(a?){900}b{90}${i}` })) }, 'a')
    expect(verdict).toBe(refused)
    expect(ms).toBeLessThan(MOST_MS)
  })

  test.each(['^.{1,255}$', '^[a-z]{2}(-[A-Z]{2,8}){0,5}$', '\\u{2028}|\\p{L}{3}', '[(){}]{40}', '^(?:[a-z0-9]{1,63}\\.){1,8}[a-z]{2,}$'])(
    'an expression of an ordinary size is accepted: %s',
    async (pattern) => {
      await expect(compileForeign({ pattern })).resolves.toBeTypeOf('function')
    },
  )

  test('an expression of a peer is counted against the budget by the length of the text and its own size', async () => {
    const validate = await compileForeign({ pattern: '^[a-z]+$' })
    expect(validate('a'.repeat(30_000)).ok).toBe(true)
    expect(() => validate('a'.repeat(100_000))).toThrow('maxSteps')
    const { verdict, ms } = await judge({ pattern: '^(a?){500}a{500}$' }, 'a'.repeat(5000))
    expect(verdict).toContain('maxSteps')
    expect(ms).toBeLessThan(MOST_MS)
  })
})

describe('a schema that is made to be dear', () => {
  const many = times(300_000, (i) => i)
  const ladder = (keyword: 'anyOf' | 'oneOf' | 'allOf', last: unknown): JsonSchema => ({
    $defs: Object.fromEntries(
      times(29, (i) => [`l${i}`, i === 28 ? last : { [keyword]: [{ $ref: `#/$defs/l${i + 1}` }, { $ref: `#/$defs/l${i + 1}` }] }]),
    ),
    $ref: '#/$defs/l0',
  })

  test.each<[name: string, schema: JsonSchema, value: unknown, verdict: string | boolean]>([
    ['a ladder of anyOf with 28 levels', ladder('anyOf', { type: 'string' }), 1, 'maxSteps'],
    ['a ladder of oneOf with 28 levels', ladder('oneOf', { type: 'string' }), 1, 'maxSteps'],
    ['a ladder of allOf with 28 levels', ladder('allOf', true), 1, 'maxSteps'],
    ['a reference to itself', { $ref: '#' }, 1, 'cycle'],
    ['many alternatives for a large value', { anyOf: times(1900, () => ({ type: 'string' })) }, many, false],
    ['many searches for equal items', { allOf: times(1900, () => ({ uniqueItems: true })) }, many, 'maxSteps'],
    ['many passes over the items', { allOf: times(900, () => ({ items: true })) }, many, 'maxSteps'],
    ['many passes over items not looked at', { allOf: times(900, () => ({ unevaluatedItems: true })) }, many, 'maxSteps'],
    ['a long list of lists to be equal to', { items: { enum: times(20_000, (i) => [i]) } }, times(1000, () => [-1]), false],
    ['a long list of lists that passes items', { allOf: times(20, () => ({ not: { enum: times(1000, (i) => [i]) } })) }, many, true],
    [
      'a large constant for many items',
      { items: { not: { const: times(20_000, () => 1) } } },
      times(1000, () => times(100, () => 1)),
      'maxSteps',
    ],
    ['a long list of required names', { items: { required: times(20_000, (i) => `k${i}`) } }, times(3000, () => ({})), false],
    [
      'many properties that are not there',
      { items: { properties: Object.fromEntries(times(1990, (i) => [`k${i}`, true])) } },
      times(200_000, () => ({})),
      'maxSteps',
    ],
    [
      'many dependencies',
      { items: { dependentRequired: Object.fromEntries(times(10_000, (i) => [`k${i}`, []])) } },
      times(50_000, () => ({})),
      'maxSteps',
    ],
    [
      'many looks at all keys',
      { allOf: times(900, () => ({ additionalProperties: true })) },
      Object.fromEntries(times(9000, (i) => [`k${i}`, i])),
      'maxSteps',
    ],
    [
      'many counts of all keys',
      { allOf: times(15, () => ({ minProperties: 1 })) },
      Object.fromEntries(times(9000, (i) => [`k${i}`, i])),
      'maxSteps',
    ],
    [
      'many counts of the characters of a long text',
      { allOf: times(1900, () => ({ minLength: 3_000_000 })) },
      'a'.repeat(5_000_000),
      'maxSteps',
    ],
    ['a type named very often', { items: { type: times(20_000, () => 'string') } }, many, false],
    [
      'a long id',
      { $id: `https://x/${'a'.repeat(200_000)}`, $defs: { d: true }, allOf: times(1900, () => ({ $ref: '#/$defs/d' })) },
      1,
      '$id',
    ],
    [
      'an id that grows level by level',
      { allOf: times(20, () => ({ $id: `${'a'.repeat(1500)}/`, allOf: [{ $id: `${'b'.repeat(1500)}/`, $ref: '#' }] })) },
      1,
      '$id',
    ],
  ])('an expensive schema (%s) is judged or refused quickly', { timeout: 30_000 }, async (_name, schema, value, expected) => {
    const { verdict, ms } = await judge(schema, value)
    if (typeof expected === 'string') expect(verdict).toContain(expected)
    else expect(verdict).toBe(expected)
    expect(ms).toBeLessThan(MOST_MS)
  })
})

test('formats of a peer only annotate', async () => {
  expect((await compileForeign({ format: 'email' }))('no address').ok).toBe(true)
})

test('the limits can be set', async () => {
  const bounds = { ...FOREIGN_SCHEMA_BOUNDS, maxSchemaNodes: 1, maxPatternSize: 3 }
  await expect(compileForeign({ not: {} }, { bounds })).rejects.toThrow('it has more than 1 subschemas (maxSchemaNodes)')
  await expect(compileForeign({ pattern: 'abc' }, { bounds })).resolves.toBeTypeOf('function')
  await expect(compileForeign({ pattern: 'abcd' }, { bounds })).rejects.toThrow(
    'at most 3 states with repetitions written out (maxPatternSize)',
  )
})
