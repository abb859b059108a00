import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { describeIssues, describePath, describeValue, type FromJsonSchema } from '../../../src/protocol/schema/json-schema.ts'
import { cpuClock } from '../../support/linear.ts'

describe('the type of what a literal schema describes', () => {
  test('the type of a literal schema follows its plain keywords', () => {
    expectTypeOf<FromJsonSchema<{ type: 'string' }>>().toEqualTypeOf<string>()
    expectTypeOf<FromJsonSchema<{ type: 'number' }>>().toEqualTypeOf<number>()
    expectTypeOf<FromJsonSchema<{ type: 'integer' }>>().toEqualTypeOf<number>()
    expectTypeOf<FromJsonSchema<{ type: 'boolean' }>>().toEqualTypeOf<boolean>()
    expectTypeOf<FromJsonSchema<{ type: 'null' }>>().toEqualTypeOf<null>()
    expectTypeOf<FromJsonSchema<{ const: 7 }>>().toEqualTypeOf<7>()
    expectTypeOf<FromJsonSchema<{ type: 'string'; enum: readonly ['a', 'b'] }>>().toEqualTypeOf<'a' | 'b'>()
    expectTypeOf<FromJsonSchema<{ type: 'array'; items: { type: 'string' } }>>().toEqualTypeOf<string[]>()
    expectTypeOf<FromJsonSchema<{ type: 'object' }>>().toEqualTypeOf<Record<string, unknown>>()
    expectTypeOf<FromJsonSchema<{ oneOf: [] }>>().toEqualTypeOf<unknown>()
    expectTypeOf<FromJsonSchema<Record<string, unknown>>>().toEqualTypeOf<unknown>()
  })

  test('the type of a literal schema has the required and the optional members', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'object', properties: { c: { type: 'number' } }, required: ['c'] } },
      required: ['a'],
    } as const
    expectTypeOf<FromJsonSchema<typeof schema>>().toExtend<{ a: string; b?: { c: number } }>()
    expectTypeOf<{ a: string }>().toExtend<FromJsonSchema<typeof schema>>()
    expectTypeOf<{ b: { c: number } }>().not.toExtend<FromJsonSchema<typeof schema>>()
    expectTypeOf<{ a: string; b: { c: string } }>().not.toExtend<FromJsonSchema<typeof schema>>()
  })
})

describe('a path', () => {
  test.each<[(string | number)[], string]>([
    [[], ''],
    [['a'], 'a'],
    [['a', 'b', 0, 'c'], 'a.b[0].c'],
    [[0, 1], '[0][1]'],
  ])('the path %j is written %j', (path, text) => {
    expect(describePath(path)).toBe(text)
  })
})

describe('issues', () => {
  const issues = Array.from({ length: 7 }, (_, i) => ({ path: ['list', i], message: `wrong ${i}` }))

  test('issues are shown with their paths, five at most unless asked', () => {
    expect(describeIssues([{ path: [], message: 'is wrong' }])).toBe('is wrong')
    expect(describeIssues(issues)).toBe(
      'list[0]: wrong 0; list[1]: wrong 1; list[2]: wrong 2; list[3]: wrong 3; list[4]: wrong 4; and 2 more',
    )
    expect(describeIssues(issues, 1)).toBe('list[0]: wrong 0; and 6 more')
    expect(describeIssues(issues, 7)).not.toContain('more')
  })
})

describe('a value in an error', () => {
  test.each<[unknown, string]>([
    [undefined, 'nothing'],
    [null, 'null'],
    [42, 'number (42)'],
    [true, 'boolean (true)'],
    ['a"b', 'string ("a\\"b")'],
    [[1, [2], {}], 'array ([1,[2],{}])'],
    [{ a: { b: [] } }, 'object ({"a":{"b":[]}})'],
    ['x'.repeat(58), `string ("${'x'.repeat(58)}")`],
    ['x'.repeat(59), `string ("${'x'.repeat(56)}...)`],
    [Array.from({ length: 100 }, () => 7), `array ([${'7,'.repeat(28)}...)`],
  ])('the value %j is written %s in an error', (value, text) => {
    expect(describeValue(value)).toBe(text)
  })

  test('a value in an error is written as JSON would be, or as the beginning of that', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value) as string
        const [, text] = /^(?:\w+ \(([\s\S]*)\)|null)$/.exec(describeValue(value)) as unknown as [string, string | undefined]
        if (text === undefined) expect(value).toBeNull()
        else expect(text).toBe(json.length > 60 ? `${json.slice(0, 57)}...` : json)
      }),
      { numRuns: 1000 },
    )
  })

  test('a large value in an error costs the same as a small one', () => {
    const large = [{ text: 'x'.repeat(10_000_000) }, Array.from({ length: 1_000_000 }, (_, i) => ({ i }))]
    const passed = cpuClock()
    for (let i = 0; i < 100; i++) for (const value of large) describeValue(value)
    expect(passed()).toBeLessThan(500)
  })
})
