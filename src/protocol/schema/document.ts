/**
 * One schema document: its dialect, its bounds, and where every $ref in it leads. References are resolved inside
 * the document only; nothing is ever fetched.
 */

import { isObject } from '../../jsonrpc/message.ts'
import { McpError } from '../errors.ts'

export interface SchemaBounds {
  /** Length of the schema as JSON text. */
  maxSchemaBytes: number
  /** How deep subschemas may nest. */
  maxSchemaDepth: number
  /** How many subschemas there may be. */
  maxSchemaNodes: number
  /** Work allowed to judge one value: one step a subschema applied. */
  maxSteps: number
}

/** For schemas that come from a peer. The step budget is about 20 ms of work. */
export const FOREIGN_SCHEMA_BOUNDS: SchemaBounds = {
  maxSchemaBytes: 256 * 1024,
  maxSchemaDepth: 64,
  maxSchemaNodes: 2000,
  maxSteps: 200_000,
}

/** For schemas of this side: wide, and still finite. */
export const OWN_SCHEMA_BOUNDS: SchemaBounds = {
  maxSchemaBytes: 16 * 1024 * 1024,
  maxSchemaDepth: 256,
  maxSchemaNodes: 200_000,
  maxSteps: 20_000_000,
}

export interface Dialect {
  name: string
  /** `items` may be a list of schemas, with `additionalItems` for the rest. */
  hasItemLists: boolean
  /** Keywords beside `$ref` are ignored. */
  refStandsAlone: boolean
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
  /** Whether any subschema asks what its siblings have looked at. */
  tracksEvaluation: boolean
  hasPatterns: boolean
  /** The base URI that references in this subschema are relative to. */
  baseOf(schema: SchemaObject, otherwise: string): string
  resolve(ref: string, base: string): Place
  /** The place of a $dynamicAnchor in one resource, if it has one of that name. */
  dynamicAnchor(resource: string, name: string): Place | undefined
}

/** Reads and judges a document; throws ERR_SCHEMA with the reason when it is refused. */
export function openDocument(root: unknown, bounds: SchemaBounds): SchemaDocument {
  if (typeof root !== 'boolean' && !isSchemaObject(root)) {
    throw refused(`a schema is an object or a boolean, not ${root === null ? 'null' : Array.isArray(root) ? 'an array' : typeof root}`)
  }
  const size = JSON.stringify(root).length
  if (size > bounds.maxSchemaBytes) throw refused(`it has ${size} bytes, more than ${bounds.maxSchemaBytes} (maxSchemaBytes)`)
  const dialect = dialectOf(root)
  const index = indexOf(root, dialect, bounds)

  return {
    root,
    rootBase: index.rootBase,
    dialect,
    tracksEvaluation: index.tracksEvaluation,
    hasPatterns: index.hasPatterns,
    baseOf: (schema, otherwise) => index.bases.get(schema) ?? otherwise,
    resolve: (ref, base) => resolve(ref, base, index),
    dynamicAnchor: (resource, name) => index.dynamicAnchors.get(`${resource}#${name}`),
  }
}

export const refused = (reason: string): McpError => new McpError('ERR_SCHEMA', `The schema is refused: ${reason}`)

export const isSchemaObject: (value: unknown) => value is SchemaObject = isObject

const DIALECTS: Readonly<Record<string, Dialect>> = {
  'https://json-schema.org/draft/2020-12/schema': { name: '2020-12', hasItemLists: false, refStandsAlone: false },
  'https://json-schema.org/draft/2019-09/schema': { name: '2019-09', hasItemLists: true, refStandsAlone: false },
  'http://json-schema.org/draft-07/schema': { name: 'draft-07', hasItemLists: true, refStandsAlone: true },
  'http://json-schema.org/draft-06/schema': { name: 'draft-06', hasItemLists: true, refStandsAlone: true },
}

const DEFAULT_DIALECT = DIALECTS['https://json-schema.org/draft/2020-12/schema'] as Dialect

function dialectOf(root: SchemaNode): Dialect {
  const named = typeof root === 'object' ? root.$schema : undefined
  if (named === undefined) return DEFAULT_DIALECT
  const key = String(named)
    .replace(/#$/, '')
    .replace(/^https?:\/\/json-schema\.org\/draft-/, 'http://json-schema.org/draft-')
  const dialect = Object.hasOwn(DIALECTS, key) ? DIALECTS[key] : undefined
  if (dialect) return dialect
  const known = Object.values(DIALECTS).map(({ name }) => name)
  throw refused(`its dialect ${JSON.stringify(named)} is not supported; supported are ${known.join(', ')}`)
}

/** Where subschemas stand: directly, in a list, or as the values of a map. */
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
  dynamicAnchors: Map<string, Place>
  tracksEvaluation: boolean
  hasPatterns: boolean
}

// Relative references need some base. The name is reserved, so no document can mean it by accident.
const ANONYMOUS_BASE = 'https://schema.invalid/'

function indexOf(root: SchemaNode, dialect: Dialect, bounds: SchemaBounds): Index {
  const index: Index = {
    rootBase: ANONYMOUS_BASE,
    bases: new Map(),
    resources: new Map([[ANONYMOUS_BASE, root]]),
    anchors: new Map(),
    dynamicAnchors: new Map(),
    tracksEvaluation: false,
    hasPatterns: false,
  }
  let nodes = 0

  const visit = (schema: unknown, base: string, depth: number): void => {
    if (typeof schema !== 'boolean' && !isSchemaObject(schema)) return
    if (++nodes > bounds.maxSchemaNodes) throw refused(`it has more than ${bounds.maxSchemaNodes} subschemas (maxSchemaNodes)`)
    if (depth > bounds.maxSchemaDepth) throw refused(`it nests deeper than ${bounds.maxSchemaDepth} levels (maxSchemaDepth)`)
    if (typeof schema === 'boolean') return
    const own = enter(schema, base)
    index.bases.set(schema, own)
    if ('unevaluatedProperties' in schema || 'unevaluatedItems' in schema) index.tracksEvaluation = true
    if ('pattern' in schema || 'patternProperties' in schema) index.hasPatterns = true
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

  const enter = (schema: SchemaObject, base: string): string => {
    const { $id, $anchor, $dynamicAnchor, $recursiveAnchor } = schema
    if (dialect.refStandsAlone && '$ref' in schema) return base
    let own = base
    if (typeof $id === 'string') {
      const resolved = joinUri($id, base)
      if ($id.startsWith('#')) index.anchors.set(resolved, { schema, base })
      else {
        own = withoutFragment(resolved)
        index.resources.set(own, schema)
        if (schema === root) index.rootBase = own
      }
    }
    if (typeof $anchor === 'string') index.anchors.set(`${own}#${$anchor}`, { schema, base: own })
    if (typeof $dynamicAnchor === 'string') {
      index.anchors.set(`${own}#${$dynamicAnchor}`, { schema, base: own })
      index.dynamicAnchors.set(`${own}#${$dynamicAnchor}`, { schema, base: own })
    }
    if ($recursiveAnchor === true) index.dynamicAnchors.set(`${own}#`, { schema, base: own })
    return own
  }

  visit(root, ANONYMOUS_BASE, 1)
  return index
}

function resolve(ref: string, base: string, index: Index): Place {
  const target = joinUri(ref, base)
  const resource = withoutFragment(target)
  const schema = index.resources.get(resource)
  if (schema === undefined) throw refused(`$ref ${JSON.stringify(ref)} leads out of the document, and nothing is fetched`)
  const fragment = target.slice(resource.length + 1)
  if (fragment === '') return { schema, base: resource }
  if (!fragment.startsWith('/')) {
    const place = index.anchors.get(`${resource}#${decodeFragment(fragment)}`)
    if (!place) throw refused(`$ref ${JSON.stringify(ref)} names an anchor that is not there`)
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
    throw refused(`$ref ${JSON.stringify(ref)} points at something that is no schema`)
  return { schema: value, base }
}

function joinUri(ref: string, base: string): string {
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
