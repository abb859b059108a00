/** Tool parameters that are mirrored into HTTP headers, as annotated with `x-mcp-header`. */

import { isObject } from '../../base/json.ts'
import { McpError } from '../errors.ts'
import type { JsonSchema } from '../schema/json-schema.ts'

const ANNOTATION = 'x-mcp-header'

export interface ParamHeader {
  /** The part of the header name after `Mcp-Param-`. */
  name: string
  /** The path of the value in the arguments. */
  path: string[]
  type: 'string' | 'integer' | 'boolean'
}

export type ParamHeaders = { headers: ParamHeader[]; fault?: undefined } | { headers?: undefined; fault: string }

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const MIRRORED_TYPES = new Set(['string', 'integer', 'boolean'])
const MAX_DEPTH = 64

/** Finds the properties with `x-mcp-header`. The annotation anywhere else makes the tool invalid. */
export function paramHeaders(inputSchema: JsonSchema): ParamHeaders {
  const headers: ParamHeader[] = []
  const seen = new Set<string>()
  let fault: string | undefined

  const visit = (value: unknown, path: string[] | undefined, depth: number): void => {
    if (fault !== undefined || typeof value !== 'object') return
    if (depth > MAX_DEPTH) {
      fault = `the schema nests deeper than ${MAX_DEPTH} levels`
      return
    }
    if (Array.isArray(value)) {
      for (const each of value) visit(each, undefined, depth + 1)
      return
    }
    if (!isObject(value)) return
    if (Object.hasOwn(value, ANNOTATION)) {
      fault = path && path.length > 0 ? take(value, path) : `${ANNOTATION} is allowed on properties only`
      if (fault !== undefined) return
    }
    for (const [keyword, inner] of Object.entries(value)) {
      if (DATA_KEYWORDS.has(keyword)) continue
      if (!SCHEMA_MAPS.has(keyword) || !isObject(inner)) {
        visit(inner, undefined, depth + 1)
        continue
      }
      const chain = keyword === 'properties' ? path : undefined
      for (const [name, schema] of Object.entries(inner)) visit(schema, chain && [...chain, name], depth + 1)
    }
  }

  const take = (schema: Record<string, unknown>, path: string[]): string | undefined => {
    const name = schema[ANNOTATION]
    const where = `property "${path.join('.')}"`
    if (typeof name !== 'string' || !TOKEN.test(name)) return `${where}: ${JSON.stringify(name)} is not the name of a header`
    if (seen.has(name.toLowerCase())) return `${where}: the header name ${JSON.stringify(name)} is used twice`
    const { type } = schema
    if (typeof type !== 'string' || !MIRRORED_TYPES.has(type))
      return `${where}: only a string, an integer or a boolean can be mirrored, not ${JSON.stringify(type ?? 'any value')}`
    seen.add(name.toLowerCase())
    headers.push({ name, path, type: type as ParamHeader['type'] })
    return undefined
  }

  visit(inputSchema, [], 0)
  return fault === undefined ? { headers } : { fault }
}

export interface MirroredParam {
  /** The part of the header name after `Mcp-Param-`. */
  name: string
  /** The value as text, not yet encoded for a header. */
  value: string
}

/**
 * The values to mirror for one call. A value that is null, absent, an object or a list gets no header.
 * Throws ERR_INVALID_PARAMS when an integer parameter is not a safe integer: the reader of the header and the reader of the
 * body could see different values.
 */
export function mirroredIn(headers: readonly ParamHeader[], args: unknown): MirroredParam[] {
  return headers.flatMap(({ name, path, type }) => {
    const given = valueAt(args, path)
    const value = type === 'integer' ? integerText(given, path) : textOf(given)
    return value === undefined ? [] : [{ name, value }]
  })
}

function integerText(value: unknown, path: readonly string[]): string | undefined {
  if (value === undefined || value === null) return undefined
  if (Number.isSafeInteger(value)) return String(value === 0 ? 0 : value)
  const shown = (JSON.stringify(value) ?? typeof value).slice(0, 80)
  throw new McpError(
    'ERR_INVALID_PARAMS',
    `The argument ${JSON.stringify(path.join('.'))} is sent in a header and must be an integer from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, not ${shown}`,
  )
}

const INTEGER = /^-?(?:0|[1-9][0-9]{0,15})(?:\.0{1,16})?$/

/** Reads an integer from a header, with or without `.0`. Undefined for other text and beyond 2^53-1. */
export function integerOf(text: string): number | undefined {
  const value = INTEGER.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : undefined
}

/** The value at a path of own properties. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value
  for (const step of path) at = isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined
  return at
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'number' && Number.isFinite(value) ? decimal(value) : undefined
}

/** Writes a number without an exponent. */
function decimal(value: number): string {
  if (Number.isInteger(value)) return BigInt(value).toString()
  const text = String(value)
  return text.includes('e') ? value.toFixed(100).replace(/0+$/, '') : text
}

/** Keywords whose values map names to schemas. The names are not keywords. */
const SCHEMA_MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])

/** Keywords whose values are data, not schemas. */
const DATA_KEYWORDS = new Set([
  'const',
  'enum',
  'default',
  'examples',
  'required',
  'type',
  'title',
  'description',
  '$comment',
  '$id',
  '$ref',
  '$schema',
  '$anchor',
  'pattern',
  'format',
])
