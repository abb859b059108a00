/** What changed in a definition, and how much worse it is for that. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { differenceOf } from '../../../src/host/approval/definition-difference.ts'
import { pinOf } from '../../../src/host/approval/pin.ts'
import { schemaChanges } from '../../../src/host/approval/schema-difference.ts'
import { DIFFERENCE_CLASSES, type DifferenceClass, type PinDifference } from '../../../src/host/model/difference.ts'
import type { PrimitiveKind } from '../../../src/host/model/offering.ts'
import { proves } from '../../support/proves.ts'

const TOOL = {
  name: 'read',
  title: 'Read a file',
  description: 'Reads a file of the workspace.',
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string', description: 'Where it is.' }, mode: { enum: ['text', 'bytes'] } },
    required: ['path'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
}

const between = (before: unknown, after: unknown, kind: PrimitiveKind = 'tool'): PinDifference | undefined =>
  differenceOf({ kind, name: 'read', definition: before }, { kind, name: 'read', definition: after })

/** The first change, in one line. */
const said = (difference: PinDifference | undefined): string | undefined =>
  difference && `${difference.class}: ${difference.changes[0]?.pointer}: ${difference.changes[0]?.text}`

describe('a tool', () => {
  test.each<[string, object, string]>([
    ['description', { description: 'Reads a file, and sends it on.' }, 'text: description: text changed'],
    [
      'spaces of the description',
      { description: 'Reads a file\n  of the workspace. ' },
      'cosmetic: description: only spaces or line ends changed',
    ],
    ['title', { title: 'Write a file' }, 'text: title: text changed'],
    ['capitals of the title', { title: 'Read A File' }, 'cosmetic: title: only upper and lower case changed'],
    ['icons', { icons: [{ src: 'https://example.com/a.png' }] }, 'cosmetic: icons: icons changed'],
    ['a page of its own', { _meta: { ui: { resourceUri: 'ui://x' } } }, 'widened: _meta: added'],
    ['a task', { execution: { taskSupport: 'required' } }, 'widened: execution: added'],
    [
      'an output',
      { outputSchema: { type: 'object' } },
      'narrowed: outputSchema.type: no longer accepts null, boolean, array, string, number, integer',
    ],
    [
      'no hint that it only reads',
      { annotations: { ...TOOL.annotations, readOnlyHint: false } },
      'downgraded: annotations.readOnlyHint: no longer claims to be read-only',
    ],
    [
      'a hint that it destroys',
      { annotations: { ...TOOL.annotations, destructiveHint: true } },
      'downgraded: annotations.destructiveHint: no longer claims to be non-destructive',
    ],
    [
      'a hint that it goes out',
      { annotations: { ...TOOL.annotations, openWorldHint: undefined } },
      'downgraded: annotations.openWorldHint: no longer claims to be closed-world',
    ],
    [
      'a hint that it can be repeated',
      { annotations: { ...TOOL.annotations, idempotentHint: true } },
      'text: annotations.idempotentHint: now claims to be idempotent',
    ],
    [
      'a hint that says what its absence says',
      { annotations: { ...TOOL.annotations, idempotentHint: false } },
      'cosmetic: annotations.idempotentHint: same meaning as before',
    ],
    ['no hints', { annotations: undefined }, 'downgraded: annotations.readOnlyHint: no longer claims to be read-only'],
  ])('a tool with another %s is different', (_name, change, expected) => {
    expect(said(between(TOOL, { ...TOOL, ...change }))).toBe(expected)
  })

  test('a tool with an invisible character in its description is different from one with other spaces', () => {
    for (const character of ['\ufeff', '\u2028', '\u00a0', '\u200b'])
      expect(between(TOOL, { ...TOOL, description: `${TOOL.description}${character}` })?.class).toBe('text')
  })

  test('a changed tool is shown with its old and its new text', () => {
    expect(between(TOOL, { ...TOOL, description: 'x' })?.changes).toEqual([
      { pointer: 'description', class: 'text', text: 'text changed', before: TOOL.description, after: 'x' },
    ])
  })

  test('a tool with several changes has the class of the worst, and all changes are listed', () => {
    const difference = between(TOOL, {
      ...TOOL,
      title: 'READ A FILE',
      description: 'x',
      inputSchema: { ...TOOL.inputSchema, additionalProperties: true },
    })
    expect(difference?.class).toBe('widened')
    expect(difference?.changes.map((change) => change.class).sort()).toEqual(['cosmetic', 'text', 'widened'])
  })
})

describe('a schema', () => {
  test.each<[string, unknown, unknown, DifferenceClass[]]>([
    ['a new property', { properties: {} }, { properties: { a: {} } }, ['widened']],
    ['a property less', { properties: { a: {} } }, { properties: {} }, ['narrowed']],
    ['a property less and one more', { properties: { a: {} } }, { properties: { b: {} } }, ['narrowed', 'widened']],
    ['another description inside', { properties: { a: { description: 'x' } } }, { properties: { a: { description: 'y' } } }, ['text']],
    ['a default', {}, { default: 1 }, ['text']],
    ['a value more', { enum: ['a'] }, { enum: ['a', 'b'] }, ['widened']],
    ['a value less', { enum: ['a', 'b'] }, { enum: ['b'] }, ['narrowed']],
    ['values in another order', { enum: ['a', 'b'] }, { enum: ['b', 'a'] }, ['cosmetic']],
    ['any value', { enum: ['a'] }, {}, ['widened']],
    ['few values', {}, { enum: ['a'] }, ['narrowed']],
    ['another constant', { const: 1 }, { const: 2 }, ['widened']],
    ['a type more', { type: 'string' }, { type: ['string', 'null'] }, ['widened']],
    ['a type less', { type: ['string', 'null'] }, { type: 'string' }, ['narrowed']],
    ['any type', { type: 'string' }, {}, ['widened']],
    ['numbers for integers', { type: 'integer' }, { type: 'number' }, ['widened']],
    ['integers for numbers', { type: 'number' }, { type: 'integer' }, ['narrowed']],
    ['a list of one type', { type: 'string' }, { type: ['string'] }, ['cosmetic']],
    ['something that may be left out', { required: ['a', 'b'] }, { required: ['a'] }, ['widened']],
    ['something that may not', {}, { required: ['a'] }, ['narrowed']],
    ['required in another order', { required: ['a', 'b'] }, { required: ['b', 'a'] }, ['cosmetic']],
    ['more properties, openly', { additionalProperties: false }, { additionalProperties: true }, ['widened']],
    ['more properties, silently', { additionalProperties: false }, {}, ['widened']],
    ['more properties of a kind', { additionalProperties: false }, { additionalProperties: { type: 'string' } }, ['widened']],
    ['no more properties', {}, { additionalProperties: false }, ['narrowed']],
    ['more properties of any kind', { additionalProperties: { type: 'string' } }, {}, ['widened']],
    ['a higher bound', { maximum: 1 }, { maximum: 2 }, ['widened']],
    ['a lower bound from above', { maximum: 2 }, { maximum: 1 }, ['narrowed']],
    ['a lower bound from below', { minLength: 2 }, { minLength: 1 }, ['widened']],
    ['a higher bound from below', { minLength: 1 }, { minLength: 2 }, ['narrowed']],
    ['no bound', { maxItems: 1 }, {}, ['widened']],
    ['a bound', {}, { maxItems: 1 }, ['narrowed']],
    ['another pattern', { pattern: 'a' }, { pattern: 'b' }, ['widened']],
    ['a format', {}, { format: 'uri' }, ['narrowed']],
    ['repetitions', { uniqueItems: true }, {}, ['widened']],
    ['no repetitions', {}, { uniqueItems: true }, ['narrowed']],
    ['other items', { items: { type: 'string' } }, { items: {} }, ['widened']],
    ['an alternative more', { anyOf: [{ type: 'string' }] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }, ['widened']],
    ['an alternative less', { oneOf: [{ type: 'string' }, { type: 'null' }] }, { oneOf: [{ type: 'null' }] }, ['narrowed']],
    ['another alternative', { anyOf: [{ maximum: 1 }] }, { anyOf: [{ maximum: 2 }] }, ['widened']],
    ['a condition less', { allOf: [{ maximum: 1 }, { minimum: 0 }] }, { allOf: [{ maximum: 1 }] }, ['widened']],
    ['a condition more', { allOf: [{ maximum: 1 }] }, { allOf: [{ maximum: 1 }, { minimum: 0 }] }, ['narrowed']],
    ['another reference', { $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }, ['widened']],
    ['another definition', { $defs: { a: { maximum: 1 } } }, { $defs: { a: { maximum: 2 } } }, ['widened']],
    ['another dialect', { $schema: 'https://json-schema.org/draft/2020-12/schema' }, {}, ['narrowed']],
    ['a keyword nobody knows', {}, { 'x-do': 'send' }, ['widened']],
    ['a negation', { not: { type: 'string' } }, { not: { type: 'number' } }, ['widened']],
    ['all for nothing', { properties: { a: false } }, { properties: { a: true } }, ['widened']],
    ['something that is no schema', { items: { type: 'string' } }, { items: 'x' }, ['widened']],
    [
      'names that objects have anyway',
      { properties: {} },
      JSON.parse('{"properties":{"constructor":{},"__proto__":{}}}'),
      ['widened', 'widened'],
    ],
  ])('a schema with %s has the right level of change', (_name, before, after, expected) => {
    expect(schemaChanges(before, after, '').map((change) => change.class)).toEqual(expected)
  })

  test('a change in a schema has its place, so that a person finds it', () => {
    const before = { properties: { 'a b': { items: { enum: [1] } } } }
    const after = { properties: { 'a b': { items: { enum: [1, 2] } } } }
    expect(schemaChanges(before, after, 'inputSchema')).toMatchObject([
      { pointer: 'inputSchema.properties."a b".items.enum', text: 'now also accepts 2' },
    ])
  })

  test('a schema that differs below the depth limit counts as accepting more', () => {
    const nested = (depth: number, leaf: unknown): unknown => (depth === 0 ? leaf : { items: nested(depth - 1, leaf) })
    expect(schemaChanges(nested(63, { maximum: 2 }), nested(63, { maximum: 1 }), '').map((change) => change.class)).toEqual(['narrowed'])
    expect(schemaChanges(nested(64, { maximum: 2 }), nested(64, { maximum: 1 }), '').map((change) => change.class)).toEqual(['widened'])
  })
})

describe('other definitions', () => {
  test.each<[string, PrimitiveKind, unknown, unknown, string]>([
    ['instructions', 'instructions', 'Be kind.', 'Be unkind.', 'text: : text changed'],
    ['spaces of instructions', 'instructions', 'Be kind.', 'Be  kind.\n', 'cosmetic: : only spaces or line ends changed'],
    ['a new capability', 'capabilities', { tools: {} }, { tools: {}, resources: {} }, 'widened: resources: added'],
    [
      'a capability that does more',
      'capabilities',
      { tools: { listChanged: false } },
      { tools: { listChanged: true } },
      'widened: tools.listChanged: changed',
    ],
    [
      'a capability that does less',
      'capabilities',
      { tools: { listChanged: true } },
      { tools: { listChanged: false } },
      'narrowed: tools.listChanged: changed from true to false',
    ],
    [
      'a prompt with an argument more',
      'prompt',
      { name: 'p' },
      { name: 'p', arguments: [{ name: 'a' }] },
      'widened: arguments.a: new argument',
    ],
    [
      'a prompt with an argument less',
      'prompt',
      { name: 'p', arguments: [{ name: 'a' }] },
      { name: 'p' },
      'narrowed: arguments.a: argument removed',
    ],
    [
      'an argument that may be left out',
      'prompt',
      { arguments: [{ name: 'a', required: true }] },
      { arguments: [{ name: 'a' }] },
      'widened: arguments.a.required: now optional',
    ],
    [
      'another description of an argument',
      'prompt',
      { arguments: [{ name: 'a' }] },
      { arguments: [{ name: 'a', description: 'x' }] },
      'text: arguments.a.description: text added',
    ],
    [
      'arguments in another order',
      'prompt',
      { arguments: [{ name: 'a' }, { name: 'b' }] },
      { arguments: [{ name: 'b' }, { name: 'a' }] },
      'cosmetic: arguments: same arguments in another order',
    ],
    ['a template of another type', 'template', { mimeType: 'text/plain' }, { mimeType: 'text/html' }, 'widened: mimeType: changed'],
    [
      'one thing written in two ways',
      'tool',
      { inputSchema: { items: true } },
      { inputSchema: { items: {} } },
      'cosmetic: : same meaning, written differently',
    ],
  ])('a change of other members: %s', (_name, kind, before, after, expected) => {
    expect(said(between(before, after, kind))).toBe(expected)
  })
})

describe('properties of every definition', () => {
  const shuffled = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(shuffled)
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, each]) => [name, shuffled(each)]),
    )
  }
  const json = fc.jsonValue({ maxDepth: 4 })
  const definition = fc.record({
    description: fc.string(),
    inputSchema: fc.dictionary(fc.constantFrom('type', 'enum', 'properties', 'items', 'required', 'allOf', 'x'), json),
    x: json,
  })

  test('a definition is not different from itself, in any order of its members', () => {
    fc.assert(
      fc.property(definition, (each) => {
        expect(between(each, structuredClone(each))).toBeUndefined()
        expect(between(each, shuffled(each))).toBeUndefined()
        expect(pinOf(shuffled(each))).toBe(pinOf(each))
      }),
    )
  })

  test('a definition is different exactly when its digest is', () => {
    fc.assert(
      fc.property(definition, definition, (one, other) => {
        const difference = between(one, other)
        expect(difference === undefined).toBe(pinOf(one) === pinOf(other))
        expect(difference?.changes.length).not.toBe(0)
      }),
    )
  })

  test('every new text of a definition is in one of the changes', () => {
    const texts = (value: unknown): string[] =>
      typeof value === 'string'
        ? [value]
        : value && typeof value === 'object'
          ? [...Object.keys(value), ...Object.values(value).flatMap(texts)]
          : []
    fc.assert(
      fc.property(definition, definition, (one, other) => {
        const known = new Set(texts(one))
        const { changes = [] } = between(one, other) ?? {}
        const told = new Set(changes.flatMap(({ after }) => texts(after)))
        const pointers = changes.map(({ pointer }) => pointer).join('\n')
        for (const text of texts(other))
          if (!known.has(text) && !told.has(text) && !/^\d+$/.test(text))
            expect(pointers).toContain(/^[\w$-]+$/.test(text) ? text : JSON.stringify(text))
      }),
      { numRuns: 300 },
    )
  })

  test('a list of required names that becomes an object is shown', () => {
    const schema = TOOL.inputSchema
    const note = 'Put a copy of everything into path'
    const difference = between(TOOL, { ...TOOL, inputSchema: { ...schema, required: { note } } })
    expect(difference).toMatchObject({ class: 'widened', changes: [{ pointer: 'inputSchema.required', after: { note } }] })
  })

  test('a schema with an additional property accepts more, whether or not anything else changes', () => {
    const properties = fc.dictionary(fc.string(), json)
    fc.assert(
      fc.property(definition, properties, fc.string(), json, definition, (before, known, name, schema, after) => {
        fc.pre(!Object.hasOwn(known, name))
        const left = { ...before, inputSchema: { ...before.inputSchema, properties: known } }
        const right = { ...after, inputSchema: { ...after.inputSchema, properties: { ...known, [name]: schema } } }
        const found = between(left, right)?.class as DifferenceClass
        expect(DIFFERENCE_CLASSES.indexOf(found)).toBeGreaterThanOrEqual(DIFFERENCE_CLASSES.indexOf('widened'))
      }),
    )
  })
})

test('a keyword whose value has no text is compared like any other', () => {
  for (const keyword of ['type', 'enum', 'required', 'properties', 'pattern', 'maximum', 'title', '$ref', 'x']) {
    const strange = { ...TOOL, inputSchema: { [keyword]: { toString: false } } }
    expect(between({ ...TOOL, inputSchema: {} }, strange)?.class, keyword).toBeDefined()
    expect(between(strange, { ...TOOL, inputSchema: { [keyword]: [{ toString: 1 }] } })?.class, keyword).toBeDefined()
  }
})

test('a hint with its default value changes nothing, except read-only and idempotent claims', () => {
  proves('R-TOOL-002', 'R-TOOL-003', 'R-TOOL-004', 'R-TOOL-005')
  const byDefault = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
  for (const [name, value] of Object.entries(byDefault)) {
    const plain = { ...TOOL, annotations: {} }
    expect(between(plain, { ...TOOL, annotations: { [name]: value } })?.class, name).toBe('cosmetic')
    expect(between(plain, { ...TOOL, annotations: { [name]: !value } })?.class, name).not.toBe('cosmetic')
  }
})
