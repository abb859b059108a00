import { describe, expect, test } from 'vitest'
import { compile } from '../../../src/protocol/schema/compile.ts'
import { compileForeign } from '../../../src/protocol/schema/foreign.ts'
import type { JsonSchema } from '../../../src/protocol/schema/json-schema.ts'
import { proves } from '../../support/proves.ts'

const D2020 = 'https://json-schema.org/draft/2020-12/schema'
const D2019 = 'https://json-schema.org/draft/2019-09/schema'
const D7 = 'http://json-schema.org/draft-07/schema#'
const D6 = 'http://json-schema.org/draft-06/schema#'
const ALL = [undefined, D2020, D2019, D7, D6]

const accepts = ($schema: string | undefined, schema: JsonSchema, value: unknown): boolean =>
  compile($schema === undefined ? schema : { $schema, ...schema })(value).ok

describe('the dialect that a schema names', () => {
  test.each([D2020, D2019, D7, D6, 'http://json-schema.org/draft-07/schema', 'https://json-schema.org/draft-07/schema#'])(
    'the dialect %s is understood',
    ($schema) => {
      proves('R-BASE-008')
      expect(accepts($schema, { type: 'string' }, 'a')).toBe(true)
      expect(accepts($schema, { type: 'string' }, 1)).toBe(false)
    },
  )

  test.each([
    'http://json-schema.org/draft-04/schema#',
    'http://json-schema.org/draft-03/schema#',
    'https://json-schema.org/v1',
    'toString',
    7,
  ])('the dialect %s is refused with the list of supported ones', async ($schema) => {
    proves('R-BASE-012')
    const reason = `The schema is refused: its dialect ${JSON.stringify($schema)} is not supported; supported are 2020-12, 2019-09, draft-07, draft-06`
    expect(() => compile({ $schema, type: 'string' } as JsonSchema)).toThrow(
      expect.objectContaining({ code: 'ERR_SCHEMA', message: reason }),
    )
    await expect(compileForeign({ $schema, type: 'string' })).rejects.toMatchObject({ code: 'ERR_SCHEMA', message: reason })
  })
})

/** Each row: a schema, a value, and the dialects in which the schema has something against the value. */
describe('a keyword means something only in the dialects that have it', () => {
  test.each<[JsonSchema, unknown, (string | undefined)[]]>([
    [{ prefixItems: [{ type: 'string' }] }, [1], [undefined, D2020]],
    [{ items: [{ type: 'string' }] }, [1], [D2019, D7, D6]],
    [{ items: [true], additionalItems: false }, [1, 2], [D2019, D7, D6]],
    [{ items: true, additionalItems: false }, [1, 2], []],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, [undefined, D2020, D2019]],
    [{ dependentSchemas: { a: false } }, { a: 1 }, [undefined, D2020, D2019]],
    [{ dependencies: { a: ['b'] } }, { a: 1 }, ALL],
    [{ unevaluatedProperties: false }, { a: 1 }, [undefined, D2020, D2019]],
    [{ unevaluatedItems: false }, [1], [undefined, D2020, D2019]],
    [{ contains: { type: 'number' }, minContains: 2 }, [1], [undefined, D2020, D2019]],
    [{ contains: { type: 'number' }, maxContains: 1 }, [1, 2], [undefined, D2020, D2019]],
    [{ if: true, then: false }, 1, [undefined, D2020, D2019, D7]],
    [{ const: 2 }, 1, ALL],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, ALL],
    [{ $defs: { n: { type: 'number' } }, $ref: '#/$defs/n', minimum: 5 }, 1, [undefined, D2020, D2019]],
    [{ definitions: { n: { type: 'string' } }, $ref: '#/definitions/n' }, 1, ALL],
    [{ $defs: { x: { $anchor: 'n', type: 'string' } }, allOf: [{ $ref: '#n' }] }, 1, [undefined, D2020, D2019]],
    [{ definitions: { x: { $id: '#n', type: 'string' } }, allOf: [{ $ref: '#n' }] }, 1, [undefined, D2020, D2019, D7, D6]],
  ])('the right dialects refuse: %j against %j', (schema, value, refusing) => {
    proves('R-BASE-007', 'R-BASE-011')
    const refuses = ALL.filter(($schema) => {
      try {
        return !accepts($schema, schema, value)
      } catch {
        return false
      }
    })
    expect(refuses).toEqual(refusing)
  })
})
