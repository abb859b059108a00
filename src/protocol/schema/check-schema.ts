/**
 * Checks a schema of this side without compiling it, so that a server does not offer a tool with an invalid schema.
 * Schemas from peers are checked when they are compiled.
 */

import { DIALECT_NAMES, type Dialect, findDialect, knownKeywords } from './dialect.ts'
import { isSchemaObject, type SchemaObject } from './document.ts'
import { describeValue } from './json-schema.ts'

/** Describes why this is not a valid schema of its dialect; undefined when it is valid. */
export function checkSchema(root: unknown): string | undefined {
  const dialect = findDialect(isSchemaObject(root) ? root.$schema : undefined)
  if (!dialect) {
    const named = JSON.stringify((root as SchemaObject).$schema)
    return `its dialect ${named} is not supported; supported are ${DIALECT_NAMES.join(', ')}`
  }
  const fault = checkSubschema(root, dialect)
  return fault && `${fault.path.join('.') || 'it'} must be ${fault.expected}, not ${describeValue(fault.value)}`
}

/** A problem in a schema. Its path is built only when a problem was found, so that a valid schema costs nothing. */
interface SchemaFault {
  path: (string | number)[]
  expected: string
  value: unknown
}

function checkSubschema(schema: unknown, dialect: Dialect): SchemaFault | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isSchemaObject(schema)) return { path: [], expected: 'a schema', value: schema }
  // Older dialects ignore all keywords beside $ref.
  if (dialect.refStandsAlone && typeof schema.$ref === 'string') return undefined
  const known = knownKeywords(schema, dialect)
  for (const keyword in known) {
    const expected = KEYWORDS.get(keyword)
    const value = known[keyword]
    if (expected === undefined || value === undefined) continue
    const fault = checkKeyword(expected, value, dialect)
    if (fault) return below(keyword, fault)
  }
  return undefined
}

function checkKeyword(expected: Expected, value: unknown, dialect: Dialect): SchemaFault | undefined {
  switch (expected) {
    case 'schema':
      return checkSubschema(value, dialect)
    case 'items':
      return dialect.hasItemLists && Array.isArray(value) ? checkKeyword('schemas', value, dialect) : checkSubschema(value, dialect)
    case 'schemas':
      if (!Array.isArray(value) || value.length === 0) return { path: [], expected: 'a list of schemas', value }
      for (let i = 0; i < value.length; i++) {
        const fault = checkSubschema(value[i], dialect)
        if (fault) return below(i, fault)
      }
      return undefined
    case 'schema map':
    case 'dependencies':
      if (!isSchemaObject(value)) return { path: [], expected: 'an object of schemas', value }
      for (const name in value) {
        const each = value[name]
        const isNames = expected === 'dependencies' && Array.isArray(each)
        const fault = isNames ? checkKeyword('names', each, dialect) : checkSubschema(each, dialect)
        if (fault) return below(name, fault)
      }
      return undefined
    default: {
      const { is, words } = PLAIN[expected]
      return is(value) ? undefined : { path: [], expected: words, value }
    }
  }
}

function below(step: string | number, fault: SchemaFault): SchemaFault {
  fault.path.unshift(step)
  return fault
}

const TYPES = new Set<unknown>(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'])
const isText = (value: unknown): boolean => typeof value === 'string'
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(isText) && new Set(value).size === value.length

/** Tries the Unicode flag first, like the compiler. */
const isExpression = (value: unknown): boolean => typeof value === 'string' && (isSource(value, 'u') || isSource(value, ''))

function isSource(source: string, flags: string): boolean {
  try {
    new RegExp(source, flags)
    return true
  } catch {
    return false
  }
}

const PLAIN = {
  text: { words: 'a string', is: isText },
  flag: { words: 'true or false', is: (value: unknown) => typeof value === 'boolean' },
  number: { words: 'a number', is: (value: unknown) => Number.isFinite(value) },
  step: { words: 'a number above 0', is: (value: unknown) => Number.isFinite(value) && (value as number) > 0 },
  count: { words: 'an integer of 0 or more', is: (value: unknown) => Number.isInteger(value) && (value as number) >= 0 },
  list: { words: 'a list', is: (value: unknown) => Array.isArray(value) },
  names: { words: 'a list of different strings', is: isNames },
  'names map': {
    words: 'an object of lists of strings',
    is: (value: unknown) => isSchemaObject(value) && Object.values(value).every(isNames),
  },
  expression: { words: 'a regular expression', is: isExpression },
  type: {
    words: `one of ${[...TYPES].join(', ')}, or a list of these`,
    is: (value: unknown) => (Array.isArray(value) ? value.length > 0 && value.every((each) => TYPES.has(each)) : TYPES.has(value)),
  },
} as const

type Expected = keyof typeof PLAIN | 'schema' | 'schemas' | 'schema map' | 'dependencies' | 'items'

const expecting = (expected: Expected, ...keywords: string[]): [string, Expected][] => keywords.map((keyword) => [keyword, expected])

const KEYWORDS: ReadonlyMap<string, Expected> = new Map([
  ...expecting('text', '$id', '$ref', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$comment', 'title', 'description'),
  ...expecting('text', 'format', 'contentEncoding', 'contentMediaType'),
  ...expecting('flag', 'uniqueItems', 'deprecated', 'readOnly', 'writeOnly', '$recursiveAnchor'),
  ...expecting('number', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'),
  ...expecting('step', 'multipleOf'),
  ...expecting('count', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'minContains', 'maxContains'),
  ...expecting('list', 'enum', 'examples'),
  ...expecting('names', 'required'),
  ...expecting('names map', 'dependentRequired'),
  ...expecting('expression', 'pattern'),
  ...expecting('type', 'type'),
  ...expecting('items', 'items'),
  ...expecting('schema', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties', 'unevaluatedProperties'),
  ...expecting('schema', 'propertyNames', 'if', 'then', 'else', 'not', 'contentSchema'),
  ...expecting('schemas', 'prefixItems', 'allOf', 'anyOf', 'oneOf'),
  ...expecting('schema map', 'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'),
  ...expecting('dependencies', 'dependencies'),
])
