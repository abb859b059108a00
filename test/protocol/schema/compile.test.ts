import { describe, expect, test } from 'vitest'
import { compile } from '../../../src/protocol/schema/compile.ts'
import { OWN_SCHEMA_BOUNDS } from '../../../src/protocol/schema/document.ts'
import { describeIssues, type JsonSchema } from '../../../src/protocol/schema/json-schema.ts'

const judge = (schema: JsonSchema, accepted: unknown[], refused: unknown[]): void => {
  const validate = compile(schema)
  for (const value of accepted) expect(validate(value).ok, JSON.stringify(value)).toBe(true)
  for (const value of refused) expect(validate(value).ok, JSON.stringify(value)).toBe(false)
}

const string: JsonSchema = { type: 'string' }

describe('a reference inside the document', () => {
  test.each<[how: string, schema: JsonSchema]>([
    ['by pointer', { $defs: { s: string }, $ref: '#/$defs/s' }],
    ['by a pointer with escapes', { $defs: { 'a/b~c%d e': string }, $ref: '#/$defs/a~1b~0c%25d%20e' }],
    ['by a pointer into a list', { allOf: [string], $ref: '#/allOf/0' }],
    ['by a pointer to a place that is no keyword', { 'x-types': { deep: [{ s: string }] }, $ref: '#/x-types/deep/0/s' }],
    ['by anchor', { $defs: { s: { $anchor: 'text', ...string } }, $ref: '#text' }],
    ['by the id of a subschema', { $defs: { s: { $id: 'https://example.com/text', ...string } }, $ref: 'https://example.com/text' }],
    ['by an id relative to the root', { $id: 'https://example.com/root', $defs: { s: { $id: 'text', ...string } }, $ref: 'text' }],
    [
      'by an id with an anchor',
      { $id: 'https://example.com/root', $defs: { s: { $id: 'text', $defs: { t: { $anchor: 'it', ...string } } } }, $ref: 'text#it' },
    ],
    [
      'by an id with a pointer',
      { $id: 'urn:example:root', $defs: { s: { $id: 'urn:example:text', $defs: { t: string } } }, $ref: 'urn:example:text#/$defs/t' },
    ],
    ['by the id of the root', { $id: 'https://example.com/root', $defs: { s: string }, $ref: 'https://example.com/root#/$defs/s' }],
    ['through another reference', { $defs: { a: { $ref: '#/$defs/b' }, b: string }, $ref: '#/$defs/a' }],
  ])('a reference inside the document is followed %s', (_how, schema) => {
    judge(schema, ['x'], [1])
  })

  test('a reference inside the document is relative to the resource that it stands in', () => {
    const schema = {
      $id: 'https://example.com/root',
      $defs: { t: string, inner: { $id: 'inner', $defs: { t: { type: 'number' } }, $ref: '#/$defs/t' } },
      properties: { a: { $ref: '#/$defs/t' }, b: { $ref: 'inner' } },
    }
    judge(schema, [{ a: 'x', b: 1 }], [{ a: 1 }, { b: 'x' }])
  })

  test('a reference inside the document may lead back to where it stands, as long as the value gets smaller', () => {
    const tree = { type: 'object', properties: { children: { items: { $ref: '#' } } }, additionalProperties: false }
    judge(tree, [{ children: [{ children: [] }, {}] }], [{ children: [{ children: [{ x: 1 }] }] }, { children: [1] }])
  })

  test('a reference that only goes round in a circle is refused', () => {
    for (const schema of [
      { $ref: '#' },
      { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
      { allOf: [{ $ref: '#' }] },
    ]) {
      expect(() => compile(schema)(1)).toThrow(
        expect.objectContaining({ code: 'ERR_SCHEMA', message: 'The schema is refused: its references form a cycle' }),
      )
    }
  })

  test.each([
    ['#/$defs/none', 'points at nothing'],
    ['#/$defs/list', 'points at something that is not a schema'],
    ['#/toString', 'points at nothing'],
    ['#none', 'names an unknown anchor'],
    ['https://example.com/other', 'leads out of the document; remote schemas are not fetched'],
  ])('a reference to %s is refused: it %s', ($ref, reason) => {
    expect(() => compile({ $defs: { list: [1] }, properties: { a: { $ref } } })).toThrow(
      `The schema is refused: $ref ${JSON.stringify($ref)} ${reason}`,
    )
  })
})

describe('a dynamic reference', () => {
  test('a dynamic reference takes the outermost anchor of its name', () => {
    const list = (element: JsonSchema): JsonSchema => ({
      $id: 'https://example.com/strings',
      $ref: 'list',
      $defs: {
        element: { $dynamicAnchor: 'element', ...element },
        list: {
          $id: 'list',
          type: 'array',
          items: { $dynamicRef: '#element' },
          $defs: { any: { $comment: 'satisfies the bookends', $dynamicAnchor: 'element' } },
        },
      },
    })
    judge(list(string), [['a']], [[1]])
    judge(list({ type: 'number' }), [[1]], [['a']])
  })

  test('a dynamic reference is an ordinary one when its target is not dynamic', () => {
    judge({ $defs: { t: { $anchor: 't', ...string } }, $dynamicRef: '#t' }, ['x'], [1])
  })

  test('a dynamic reference makes an extended tree strict at every level', () => {
    const tree = {
      $id: 'https://example.com/strict',
      $dynamicAnchor: 'node',
      $ref: 'tree',
      unevaluatedProperties: false,
      $defs: {
        tree: {
          $id: 'tree',
          $dynamicAnchor: 'node',
          type: 'object',
          properties: { data: true, children: { type: 'array', items: { $dynamicRef: '#node' } } },
        },
      },
    }
    judge(tree, [{ children: [{ data: 1 }] }], [{ children: [{ daat: 1 }] }])
  })

  test('a dynamic reference has an older form with one name for all', () => {
    const tree = {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      $id: 'https://example.com/strict',
      $recursiveAnchor: true,
      $ref: 'tree',
      unevaluatedProperties: false,
      $defs: {
        tree: {
          $id: 'tree',
          $recursiveAnchor: true,
          type: 'object',
          properties: { data: true, children: { type: 'array', items: { $recursiveRef: '#' } } },
        },
      },
    }
    judge(tree, [{ children: [{ data: 1 }] }], [{ children: [{ daat: 1 }] }])
  })
})

describe('what is no schema', () => {
  test.each<[unknown, string]>([
    [null, 'a schema must be an object or a boolean, not null'],
    ['string', 'a schema must be an object or a boolean, not string'],
    [[], 'a schema must be an object or a boolean, not an array'],
    [undefined, 'a schema must be an object or a boolean, not undefined'],
    [{ type: 'text' }, '"type" is "text", which is not a JSON type'],
    [{ type: ['string', 'toString'] }, '"type" is "toString", which is not a JSON type'],
    [{ properties: { a: 1 } }, '"properties" holds 1, which is not a schema'],
    [{ allOf: ['x'] }, '"allOf" holds "x", which is not a schema'],
    [{ pattern: '(' }, '"pattern" "(" is not a regular expression'],
    [{ $ref: 'http://[' }, '"http://[" is not a URI reference'],
  ])('the schema %j is refused: %s', (schema, reason) => {
    expect(() => compile(schema)).toThrow(
      expect.objectContaining({ code: 'ERR_SCHEMA', message: expect.stringContaining(reason) as string }),
    )
  })

  test('true and false are schemas', () => {
    expect(compile(true)(1).ok).toBe(true)
    expect(compile(false)(1)).toEqual({ ok: false, issues: [{ path: [], message: 'no value is allowed here' }] })
  })
})

test('an interrupted validation leaves nothing behind for the next', () => {
  const node = {
    $id: 'https://example.com/strict',
    $dynamicAnchor: 'node',
    $ref: 'tree',
    unevaluatedProperties: false,
    $defs: { tree: { $id: 'tree', $dynamicAnchor: 'node', properties: { data: true, children: { items: { $dynamicRef: '#node' } } } } },
  }
  const validate = compile(node, { bounds: { ...OWN_SCHEMA_BOUNDS, maxSteps: 200 } })
  const large = { children: Array.from({ length: 100 }, () => ({ data: 1 })) }
  for (let i = 0; i < 3; i++) {
    expect(() => validate(large)).toThrow('maxSteps')
    expect(validate({ children: [{ data: 1 }] }).ok).toBe(true)
    expect(validate({ children: [{ daat: 1 }] }).ok).toBe(false)
    expect(validate({ daat: 1 }).ok).toBe(false)
  }
})

describe('reasons', () => {
  test('at most 20 reasons are given', () => {
    const checked = compile({ items: string })(Array.from({ length: 1000 }, () => 1))
    expect(checked.ok ? [] : checked.issues).toHaveLength(20)
    expect(checked.ok ? '' : describeIssues(checked.issues)).toContain('; and 15 more')
  })

  test('reasons are collected only within the budget, and the verdict does not need them', () => {
    const ladder = {
      $defs: Object.fromEntries(
        Array.from({ length: 20 }, (_, i) => [
          `l${i}`,
          i === 19 ? true : { allOf: [{ $ref: `#/$defs/l${i + 1}` }, { $ref: `#/$defs/l${i + 1}` }] },
        ]),
      ),
    }
    const validate = compile(
      { ...ladder, anyOf: [false], not: { $ref: '#/$defs/l0' } },
      { bounds: { ...OWN_SCHEMA_BOUNDS, maxSteps: 1000 } },
    )
    expect(validate({ a: 1 }).ok).toBe(false)
  })

  test('reasons do not copy a value of megabytes', () => {
    const checked = compile(string)({ text: 'x'.repeat(5_000_000) })
    expect(checked.ok ? '' : describeIssues(checked.issues)).toBe(`expected string, got object ({"text":"${'x'.repeat(48)}...)`)
  })

  test('reasons do not change the value that is judged', () => {
    const value = Object.freeze({ a: Object.freeze([1, Object.freeze({ b: 2 })]) })
    expect(compile({ properties: { a: { uniqueItems: true, items: { default: 3 } } } })(value)).toEqual({ ok: true, value })
  })
})
