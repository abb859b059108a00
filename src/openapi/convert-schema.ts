/** Writes a schema of an OpenAPI description as JSON Schema 2020-12. */

import { isObject } from '../base/json.ts'
import type { JsonSchema } from '../protocol/schema/json-schema.ts'
import { type Description, decoded, wrong } from './document.ts'

/** Keywords of OpenAPI that say nothing to a model or a validator. */
const LEFT_OUT = new Set(['nullable', 'discriminator', 'xml', 'externalDocs', 'example', 'exclusiveMinimum', 'exclusiveMaximum', '$id'])

/** Keywords with schemas by name, with lists of schemas, and with one schema. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas'])
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const SINGLE = new Set([
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
])

const MAX_DEPTH = 100
/** The parts of a schema may be the same object many times, so a short description can have a schema without end. */
const MAX_SCHEMAS = 100_000

/** Converts the schemas of one tool. Schemas that they refer to are collected in `$defs`. */
export class SchemaConverter {
  readonly #description: Description
  readonly #names = new Map<string, string>()
  readonly #defs: Record<string, unknown> = {}
  #count = 0

  constructor(description: Description) {
    this.#description = description
  }

  /** The schemas that the converted ones refer to. */
  get defs(): Readonly<Record<string, unknown>> {
    return this.#defs
  }

  convert(schema: unknown, depth = 0): JsonSchema | boolean {
    if (depth > MAX_DEPTH) throw wrong(`a schema is nested more than ${MAX_DEPTH} levels deep`)
    if (++this.#count > MAX_SCHEMAS) throw wrong(`the arguments of an operation have more than ${MAX_SCHEMAS} schemas`)
    if (typeof schema === 'boolean') return schema
    if (!isObject(schema)) throw wrong(`expected a schema, got ${JSON.stringify(schema)}`)
    if (typeof schema.$ref === 'string') return { $ref: this.#reference(schema.$ref, depth) }
    const { isOld } = this.#description
    const converted: Record<string, unknown> = {}
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword.startsWith('x-') || (LEFT_OUT.has(keyword) && (isOld || !keyword.startsWith('exclusive')))) continue
      if (BY_NAME.has(keyword) && isObject(value))
        converted[keyword] = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.convert(each, depth + 1)]))
      else if (LISTS.has(keyword) && Array.isArray(value)) converted[keyword] = value.map((each) => this.convert(each, depth + 1))
      else if (SINGLE.has(keyword)) converted[keyword] = this.convert(value, depth + 1)
      else converted[keyword] = value
    }
    if (isOld) widenOld(schema, converted)
    return converted
  }

  #reference(reference: string, depth: number): string {
    let name = this.#names.get(reference)
    if (name === undefined) {
      const last = decoded(reference.slice(reference.lastIndexOf('/') + 1)).replace(/[^\w.-]/g, '_') || 'schema'
      name = last
      // `in`, because a name such as __proto__ cannot be set.
      for (let i = 2; name in this.#defs; i++) name = `${last}_${i}`
      this.#names.set(reference, name)
      // Set before it is converted, because schemas may refer to themselves.
      this.#defs[name] = {}
      this.#defs[name] = this.convert(this.#description.at(reference), depth + 1)
    }
    return `#/$defs/${name}`
  }
}

/** In 3.0 null is a keyword, and exclusive limits are flags. */
function widenOld(schema: Readonly<Record<string, unknown>>, converted: Record<string, unknown>): void {
  for (const [flag, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (schema[flag] !== true || typeof schema[limit] !== 'number') continue
    converted[flag] = schema[limit]
    delete converted[limit]
  }
  if (schema.nullable !== true) return
  if (typeof converted.type === 'string') converted.type = [converted.type, 'null']
  if (Array.isArray(converted.enum) && !converted.enum.includes(null)) converted.enum = [...converted.enum, null]
}
