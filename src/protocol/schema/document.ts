/**
 * A schema document: its dialect, its limits, and the target of every $ref. References are resolved inside the document
 * only; nothing is fetched.
 */

import { isObject } from '../../base/json.ts'
import { McpError } from '../errors.ts'
import { DIALECT_NAMES, type Dialect, findDialect, knownKeywords } from './dialect.ts'

export interface SchemaBounds {
  /** The maximum length of the schema as JSON text. */
  maxSchemaBytes: number
  /** The maximum depth of subschemas. */
  maxSchemaDepth: number
  /** The maximum number of subschemas. */
  maxSchemaNodes: number
  /** The maximum size of all regular expressions, with repetitions written out. */
  maxPatternSize: number
  /** The maximum work to check one value, in steps: about one per applied subschema. */
  maxSteps: number
}

/** For schemas from a peer. `maxSteps` is about 20 ms of work. */
export const FOREIGN_SCHEMA_BOUNDS: SchemaBounds = {
  maxSchemaBytes: 256 * 1024,
  maxSchemaDepth: 64,
  maxSchemaNodes: 2000,
  maxPatternSize: 5000,
  maxSteps: 200_000,
}

/** For schemas of this side. */
export const OWN_SCHEMA_BOUNDS: SchemaBounds = {
  maxSchemaBytes: 16 * 1024 * 1024,
  maxSchemaDepth: 256,
  maxSchemaNodes: 200_000,
  maxPatternSize: 1_000_000,
  maxSteps: 20_000_000,
}

export type SchemaNode = boolean | SchemaObject
export type SchemaObject = { readonly [keyword: string]: unknown }

export interface Place {
  schema: SchemaNode
  base: string
}

export interface SchemaDocument {
  root: SchemaNode
  rootBase: string
  dialect: Dialect
  /** Whether it may contain regular expressions. */
  hasPatterns: boolean
  /** The base URI that references in this subschema are relative to. */
  baseOf(schema: SchemaObject, otherwise: string): string
  resolve(ref: string, base: string): Place
  /** The place of a $dynamicAnchor with this name in a resource. */
  dynamicAnchor(resource: string, name: string): Place | undefined
}

/** Reads a document. Throws ERR_SCHEMA with the reason when it is refused. */
export function openDocument(root: unknown, bounds: SchemaBounds): SchemaDocument {
  if (typeof root !== 'boolean' && !isSchemaObject(root)) {
    throw refused(`a schema must be an object or a boolean, not ${root === null ? 'null' : Array.isArray(root) ? 'an array' : typeof root}`)
  }
  const text = JSON.stringify(root)
  if (text.length > bounds.maxSchemaBytes)
    throw refused(`it has ${text.length} characters, more than ${bounds.maxSchemaBytes} (maxSchemaBytes)`)
  const dialect = dialectOf(root)
  const index = indexOf(root, dialect, bounds)

  return {
    root,
    rootBase: index.rootBase,
    dialect,
    // Searches the text, because a $ref can turn any place of the document into a schema.
    hasPatterns: text.includes('"pattern'),
    baseOf: (schema, otherwise) => index.bases.get(schema) ?? otherwise,
    resolve: (ref, base) => resolve(ref, base, index),
    dynamicAnchor: (resource, name) => index.dynamicAnchors.get(name)?.get(resource),
  }
}

export const refused = (reason: string): McpError => new McpError('ERR_SCHEMA', `The schema is refused: ${reason}`)

export const isSchemaObject: (value: unknown) => value is SchemaObject = isObject

function dialectOf(root: SchemaNode): Dialect {
  const named = typeof root === 'object' ? root.$schema : undefined
  const dialect = findDialect(named)
  if (dialect) return dialect
  throw refused(`its dialect ${JSON.stringify(named)} is not supported; supported are ${DIALECT_NAMES.join(', ')}`)
}

/** Keywords that contain subschemas: directly, in a list, or as the values of a map. */
const SINGLE = [
  'additionalProperties',
  'additionalItems',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
  'items',
  'contentSchema',
]
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']

interface Index {
  rootBase: string
  bases: Map<SchemaObject, string>
  resources: Map<string, SchemaNode>
  anchors: Map<string, Place>
  /** By name, then by resource. */
  dynamicAnchors: Map<string, Map<string, Place>>
  /** Adds a subschema and its subschemas, unless it is known. */
  enter(schema: unknown, base: string): void
}

// The base for relative references. The name is reserved, so that no document uses it by accident.
const ANONYMOUS_BASE = 'https://schema.invalid/'

// Every reference is resolved against a base, so a long base would make all of them slow.
const MAX_BASE_LENGTH = 2048

function indexOf(root: SchemaNode, dialect: Dialect, bounds: SchemaBounds): Index {
  const index: Index = {
    rootBase: ANONYMOUS_BASE,
    bases: new Map(),
    resources: new Map([[ANONYMOUS_BASE, root]]),
    anchors: new Map(),
    dynamicAnchors: new Map(),
    enter: (schema, base) => visit(schema, base, 1),
  }
  let nodes = 0

  const visit = (schema: unknown, base: string, depth: number): void => {
    if (typeof schema !== 'boolean' && !isSchemaObject(schema)) return
    if (typeof schema === 'object' && index.bases.has(schema)) return
    if (++nodes > bounds.maxSchemaNodes) throw refused(`it has more than ${bounds.maxSchemaNodes} subschemas (maxSchemaNodes)`)
    if (depth > bounds.maxSchemaDepth) throw refused(`it nests deeper than ${bounds.maxSchemaDepth} levels (maxSchemaDepth)`)
    if (typeof schema === 'boolean') return
    const own = name(schema, base)
    index.bases.set(schema, own)
    for (const keyword of SINGLE) visit(schema[keyword], own, depth + 1)
    for (const keyword of LISTS) {
      const list = schema[keyword]
      if (Array.isArray(list)) for (const each of list) visit(each, own, depth + 1)
    }
    for (const keyword of MAPS) {
      const map = schema[keyword]
      if (isSchemaObject(map)) for (const each of Object.values(map)) visit(each, own, depth + 1)
    }
  }

  /** Records the names of a subschema and returns the base for the references inside it. */
  const name = (schema: SchemaObject, base: string): string => {
    const { $id, $anchor, $dynamicAnchor, $recursiveAnchor } = knownKeywords(schema, dialect)
    if (dialect.refStandsAlone && '$ref' in schema) return base
    let own = base
    if (typeof $id === 'string') {
      const resolved = joinUri($id, base)
      if ($id.startsWith('#')) index.anchors.set(resolved, { schema, base })
      else {
        own = withoutFragment(resolved)
        if (own.length > MAX_BASE_LENGTH) throw refused(`an $id in it is longer than ${MAX_BASE_LENGTH} characters`)
        index.resources.set(own, schema)
        if (schema === root) index.rootBase = own
      }
    }
    if (typeof $anchor === 'string') index.anchors.set(`${own}#${$anchor}`, { schema, base: own })
    if (typeof $dynamicAnchor === 'string') {
      index.anchors.set(`${own}#${$dynamicAnchor}`, { schema, base: own })
      setDynamic($dynamicAnchor, own, schema)
    }
    if ($recursiveAnchor === true) setDynamic('', own, schema)
    return own
  }

  const setDynamic = (anchor: string, base: string, schema: SchemaObject): void => {
    const places = index.dynamicAnchors.get(anchor) ?? new Map<string, Place>()
    index.dynamicAnchors.set(anchor, places.set(base, { schema, base }))
  }

  visit(root, ANONYMOUS_BASE, 1)
  return index
}

function resolve(ref: string, base: string, index: Index): Place {
  const target = joinUri(ref, base)
  const resource = withoutFragment(target)
  const schema = index.resources.get(resource)
  if (schema === undefined) throw refused(`$ref ${JSON.stringify(ref)} leads out of the document; remote schemas are not fetched`)
  const fragment = target.slice(resource.length + 1)
  if (fragment === '') return { schema, base: resource }
  if (!fragment.startsWith('/')) {
    const place = index.anchors.get(`${resource}#${decodeFragment(fragment)}`)
    if (!place) throw refused(`$ref ${JSON.stringify(ref)} names an unknown anchor`)
    return place
  }
  return follow(schema, resource, decodeFragment(fragment), ref, index)
}

function follow(start: SchemaNode, resource: string, pointer: string, ref: string, index: Index): Place {
  let value: unknown = start
  let base = resource
  for (const step of pointer.slice(1).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    if (!isThere) throw refused(`$ref ${JSON.stringify(ref)} points at nothing`)
    value = (value as Record<string, unknown>)[key]
    if (isSchemaObject(value)) base = index.bases.get(value) ?? base
  }
  if (typeof value !== 'boolean' && !isSchemaObject(value))
    throw refused(`$ref ${JSON.stringify(ref)} points at something that is not a schema`)
  index.enter(value, base)
  return { schema: value, base: isSchemaObject(value) ? (index.bases.get(value) ?? base) : base }
}

function joinUri(ref: string, base: string): string {
  if (ref.startsWith('#')) return base + ref
  try {
    return new URL(ref, base).href
  } catch {
    throw refused(`${JSON.stringify(ref)} is not a URI reference`)
  }
}

const withoutFragment = (uri: string): string => {
  const hash = uri.indexOf('#')
  return hash < 0 ? uri : uri.slice(0, hash)
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
