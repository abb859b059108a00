/** Looks up properties and types in a server's schema, to read a command line. Validation is done elsewhere. */

import { isObject } from '../../base/json.ts'

const MAX_REFERENCES = 16
const MAX_ALTERNATIVES = 32

/** Follows `$ref` within the document. */
function resolved(schema: unknown, root: unknown): unknown {
  let at = schema
  for (let i = 0; i < MAX_REFERENCES && isObject(at) && typeof at.$ref === 'string'; i++) {
    if (!at.$ref.startsWith('#/')) return undefined
    let found: unknown = root
    for (const step of at.$ref.slice(2).split('/')) {
      const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
      found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
    }
    at = found
  }
  return at
}

/** The schema and its anyOf, oneOf and allOf parts. */
function alternatives(schema: unknown, root: unknown, depth = 0): Record<string, unknown>[] {
  const at = resolved(schema, root)
  if (!isObject(at) || depth > 4) return []
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => {
    const list = at[keyword]
    return Array.isArray(list) ? list : []
  })
  return [at, ...parts.flatMap((part) => alternatives(part, root, depth + 1))].slice(0, MAX_ALTERNATIVES)
}

export function propertyOf(schema: unknown, name: string, root: unknown): unknown {
  for (const { properties } of alternatives(schema, root)) {
    if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name]
  }
  return undefined
}

export const propertyNames = (schema: unknown, root: unknown): string[] => [
  ...new Set(alternatives(schema, root).flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : []))),
]

/** Whether unlisted names are allowed: the schema lists none, or has a rule for others. */
export function takesOthers(schema: unknown, root: unknown): boolean {
  const all = alternatives(schema, root)
  if (all.some(({ additionalProperties: others }) => others === false)) return false
  return (
    !all.some(({ properties }) => isObject(properties)) ||
    all.some(({ additionalProperties: others, patternProperties }) => others === true || isObject(others) || isObject(patternProperties))
  )
}

export const requiredNames = (schema: unknown, root: unknown): string[] => {
  const at = resolved(schema, root)
  return isObject(at) && Array.isArray(at.required) ? at.required.filter((name): name is string => typeof name === 'string') : []
}

/** All types that a value may have. Empty: any. */
export function typesOf(schema: unknown, root: unknown): Set<string> {
  const types = new Set<string>()
  for (const { type, enum: list, const: only } of alternatives(schema, root)) {
    for (const each of Array.isArray(type) ? type : [type]) if (typeof each === 'string') types.add(each)
    if (type === undefined) for (const value of Array.isArray(list) ? list : only === undefined ? [] : [only]) types.add(typeOf(value))
  }
  return types
}

/** The allowed values. Empty: any. */
export function choicesOf(schema: unknown, root: unknown): unknown[] {
  return alternatives(schema, root).flatMap(({ enum: list, const: only }) =>
    Array.isArray(list) ? list : only === undefined ? [] : [only],
  )
}

export function elementOf(schema: unknown, root: unknown): unknown {
  return alternatives(schema, root).find(({ items }) => isObject(items))?.items
}

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
