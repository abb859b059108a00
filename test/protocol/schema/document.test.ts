import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { compile } from '../../../src/protocol/schema/compile.ts'
import { FOREIGN_SCHEMA_BOUNDS, openDocument, type SchemaBounds } from '../../../src/protocol/schema/document.ts'
import { compileForeign } from '../../../src/protocol/schema/foreign.ts'
import type { JsonSchema } from '../../../src/protocol/schema/json-schema.ts'
import { proves } from '../../support/proves.ts'

describe('a reference out of the document', () => {
  let canary: Server
  let requests = 0
  let port = 0

  beforeAll(async () => {
    canary = createServer((_request, response) => {
      requests++
      response.end('{"type":"string"}')
    })
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
    port = (canary.address() as AddressInfo).port
  })

  afterAll(() => void canary.close())

  const LEADING_OUT = [
    'http://127.0.0.1:PORT/a',
    'http://127.0.0.1:PORT/a#/x',
    'https://example.com/a',
    '//127.0.0.1:PORT/a',
    'file:///etc/passwd',
    'other.json',
    '../up',
    '/root',
    'urn:example:x',
    'data:application/json,{}',
  ]

  test.each(LEADING_OUT)('a reference to %s outside the document is refused, and nothing is fetched', async (place) => {
    proves('R-BASE-062', 'R-BASE-064', 'R-BASE-066')
    const fetching = vi.spyOn(globalThis, 'fetch')
    const ref = place.replace('PORT', String(port))
    const schemas: JsonSchema[] = [
      { $ref: ref },
      { properties: { a: { $ref: ref } } },
      { $dynamicRef: ref },
      { $id: `http://127.0.0.1:${port}/elsewhere/deep/`, $ref: ref },
      { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: { $ref: ref } }, $ref: '#/definitions/a' },
    ]
    for (const schema of schemas) {
      const reason = `The schema is refused: $ref ${JSON.stringify(ref)} leads out of the document; remote schemas are not fetched`
      expect(() => compile(schema)).toThrow(expect.objectContaining({ code: 'ERR_SCHEMA', message: reason }))
      await expect(compileForeign(schema)).rejects.toMatchObject({ code: 'ERR_SCHEMA', message: reason })
    }
    expect(fetching).not.toHaveBeenCalled()
    fetching.mockRestore()
    expect(requests).toBe(0)
  })

  test('a reference outside is not followed where the document names another place as its own', async () => {
    const validate = await compileForeign({
      $id: `http://127.0.0.1:${port}/me`,
      $defs: { s: { type: 'string' } },
      $ref: `http://127.0.0.1:${port}/me#/$defs/s`,
    })
    expect(validate('x').ok).toBe(true)
    expect(validate(1).ok).toBe(false)
    expect(requests).toBe(0)
  })
})

describe('bounds', () => {
  const WIDE: SchemaBounds = { maxSchemaBytes: 1e6, maxSchemaDepth: 1e3, maxSchemaNodes: 1e5, maxPatternSize: 1e5, maxSteps: 1e6 }
  const nested = (levels: number): JsonSchema => (levels === 1 ? {} : { not: nested(levels - 1) })
  const many = (nodes: number): JsonSchema => ({ anyOf: Array.from({ length: nodes - 1 }, () => ({})) })
  const long = (length: number): JsonSchema => ({ title: 'x'.repeat(length - '{"title":""}'.length) })

  test('schemas of a peer are limited to 256 KiB, 64 levels and 2,000 subschemas', () => {
    expect(FOREIGN_SCHEMA_BOUNDS).toMatchObject({ maxSchemaBytes: 262_144, maxSchemaDepth: 64, maxSchemaNodes: 2000 })
  })

  test.each<[bound: keyof SchemaBounds, limit: number, make: (size: number) => JsonSchema, reason: string]>([
    ['maxSchemaBytes', FOREIGN_SCHEMA_BOUNDS.maxSchemaBytes, long, 'it has 262145 characters, more than 262144 (maxSchemaBytes)'],
    ['maxSchemaDepth', FOREIGN_SCHEMA_BOUNDS.maxSchemaDepth, nested, 'it nests deeper than 64 levels (maxSchemaDepth)'],
    ['maxSchemaNodes', FOREIGN_SCHEMA_BOUNDS.maxSchemaNodes, many, 'it has more than 2000 subschemas (maxSchemaNodes)'],
    ['maxSchemaBytes', 100, long, 'it has 101 characters, more than 100 (maxSchemaBytes)'],
    ['maxSchemaDepth', 3, nested, 'it nests deeper than 3 levels (maxSchemaDepth)'],
    ['maxSchemaNodes', 5, many, 'it has more than 5 subschemas (maxSchemaNodes)'],
  ])('the limit %s of %i is exact', (bound, limit, make, reason) => {
    proves('R-BASE-067')
    const bounds = { ...WIDE, [bound]: limit }
    expect(() => openDocument(make(limit - 1), bounds)).not.toThrow()
    expect(() => openDocument(make(limit), bounds)).not.toThrow()
    expect(() => openDocument(make(limit + 1), bounds)).toThrow(
      expect.objectContaining({ code: 'ERR_SCHEMA', message: `The schema is refused: ${reason}` }),
    )
  })

  test.each([100, 1000, FOREIGN_SCHEMA_BOUNDS.maxSteps])('the limit maxSteps of %i is exact', (maxSteps) => {
    proves('R-BASE-067')
    const validate = compile({ items: { type: 'number' } }, { bounds: { ...WIDE, maxSteps } })
    const list = (length: number): number[] => Array.from({ length }, (_, i) => i)
    // One step for the list, one for each item.
    expect(validate(list(maxSteps - 2)).ok).toBe(true)
    expect(validate(list(maxSteps - 1)).ok).toBe(true)
    expect(() => validate(list(maxSteps))).toThrow(`The schema is refused: checking one value takes more than ${maxSteps} steps (maxSteps)`)
  })

  test('references do not bypass the limits', () => {
    const hidden = (schema: JsonSchema): JsonSchema => ({ 'x-hidden': schema, $ref: '#/x-hidden' })
    expect(() => compile(hidden(many(4)), { bounds: { ...WIDE, maxSchemaNodes: 5 } })).not.toThrow()
    expect(() => compile(hidden(many(5)), { bounds: { ...WIDE, maxSchemaNodes: 5 } })).toThrow('maxSchemaNodes')
    expect(() => compile(hidden(nested(4)), { bounds: { ...WIDE, maxSchemaDepth: 3 } })).toThrow('maxSchemaDepth')
  })

  test('an id that would make every reference expensive is refused', () => {
    const schema = (length: number): JsonSchema => ({ $id: `https://x.example/${'a'.repeat(length - 18)}` })
    expect(() => openDocument(schema(2048), WIDE)).not.toThrow()
    expect(() => openDocument(schema(2049), WIDE)).toThrow('an $id in it is longer than 2048 characters')
  })
})
