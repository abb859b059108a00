/** JSON Schema as a TypeScript type. What has no counterpart is `unknown`. */

import { isObject } from '../../base/json.ts'
import { comment, literal, memberName } from './escape.ts'

const MAX_DEPTH = 12
const MAX_MEMBERS = 500
const MAX_VALUES = 200
/** Above this, the type of a tool is `unknown`. */
const MAX_LENGTH = 50_000

/** A combined type needs no parentheses where it stands alone. Only `joined` adds them, and around the whole. */
const bare = (text: string): string => (text.startsWith('(') ? text.slice(1, -1) : text)

/** The type of a whole schema. It may span several lines. */
export function typeText(schema: unknown): string {
  const printer = new Printer(schema)
  const text = printer.print(schema, 0, '')
  return printer.isFull ? 'unknown' : bare(text)
}

type Schema = Record<string, unknown>

class Printer {
  readonly #root: unknown
  #length = 0

  constructor(root: unknown) {
    this.#root = root
  }

  /** Schemas can refer to the same part many times, so the output may be much longer than the input. */
  get isFull(): boolean {
    return this.#length > MAX_LENGTH
  }

  print(schema: unknown, depth: number, indent: string): string {
    if (schema === false) return 'never'
    if (!isObject(schema) || depth > MAX_DEPTH || this.isFull) return 'unknown'
    const text = this.#printed(schema, depth, indent)
    this.#length += text.length
    return text
  }

  #printed(schema: Schema, depth: number, indent: string): string {
    if (typeof schema.$ref === 'string') return this.print(this.#referred(schema.$ref), depth + 1, indent)
    if ('const' in schema) return valueText(schema.const)
    if (Array.isArray(schema.enum)) return schema.enum.length > MAX_VALUES ? 'unknown' : joined(schema.enum.map(valueText), ' | ')
    const parts: string[] = []
    for (const key of ['anyOf', 'oneOf'] as const) if (Array.isArray(schema[key])) parts.push(this.#all(schema[key], ' | ', depth, indent))
    if (Array.isArray(schema.allOf)) parts.push(this.#all(schema.allOf, ' & ', depth, indent))
    const own = this.#ownType(schema, depth, indent)
    if (own !== 'unknown') parts.push(own)
    return joined(parts, ' & ')
  }

  #all(schemas: readonly unknown[], sign: ' | ' | ' & ', depth: number, indent: string): string {
    return schemas.length > MAX_VALUES
      ? 'unknown'
      : joined(
          schemas.map((each) => this.print(each, depth + 1, indent)),
          sign,
        )
  }

  #ownType(schema: Schema, depth: number, indent: string): string {
    const { type } = schema
    const types = Array.isArray(type) ? type : [type ?? (isObject(schema.properties) ? 'object' : undefined)]
    return joined(
      types.slice(0, 10).map((each) => this.#typeNamed(each, schema, depth, indent)),
      ' | ',
    )
  }

  #typeNamed(type: unknown, schema: Schema, depth: number, indent: string): string {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
      case 'number':
        return type
      case 'integer':
        return 'number'
      case 'array':
        return this.#arrayText(schema, depth, indent)
      case 'object':
        return this.#objectText(schema, depth, indent)
      default:
        return 'unknown'
    }
  }

  #arrayText({ items, prefixItems }: Schema, depth: number, indent: string): string {
    if (Array.isArray(prefixItems)) return 'unknown[]'
    const item = this.print(items, depth + 1, indent)
    return /^[\w.]+$/.test(item) ? `${item}[]` : `Array<${item}>`
  }

  #objectText({ properties, required, additionalProperties }: Schema, depth: number, indent: string): string {
    const members = isObject(properties) ? Object.entries(properties) : []
    if (members.length > MAX_MEMBERS) return 'Record<string, unknown>'
    if (members.length === 0)
      return additionalProperties === false
        ? 'Record<string, never>'
        : `Record<string, ${this.print(additionalProperties, depth + 1, indent)}>`
    const needed = new Set(Array.isArray(required) ? required : [])
    const inner = `${indent}  `
    const lines = members.map(([name, value]) => {
      const about = isObject(value) && typeof value.description === 'string' ? comment(value.description, inner) : ''
      return `${about}${inner}${memberName(name)}${needed.has(name) ? '' : '?'}: ${bare(this.print(value, depth + 1, inner))}\n`
    })
    return `{\n${lines.join('')}${indent}}`
  }

  /** A part of the same schema. Other addresses are not fetched. */
  #referred(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined
    let found: unknown = this.#root
    for (const step of reference.slice(1).split('/').slice(1, 20)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      if (!isObject(found) || !Object.hasOwn(found, name)) return undefined
      found = found[name]
    }
    return found
  }
}

function joined(parts: readonly string[], sign: ' | ' | ' & '): string {
  const different = [...new Set(parts)]
  if (different.length === 0) return 'unknown'
  if (different.includes('unknown') && sign === ' | ') return 'unknown'
  const [first = 'unknown'] = different
  return different.length === 1 ? first : `(${different.join(sign)})`
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return literal(value)
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value)
  return 'unknown'
}
