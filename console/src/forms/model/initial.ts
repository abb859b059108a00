/** The value that a form begins with: defaults, constants, and groups that must be there. */

import { type Field, fieldOf } from './field.ts'
import type { Schema } from './schema.ts'

/** Groups inside groups that are filled. Deeper ones are filled when the person opens them. */
const MAX_DEPTH = 6
/** Fields that are filled. A huge schema must not take long. */
const MAX_FIELDS = 2_000

/** A secret is drawn as dots, so a value of the schema would be sent unseen. */
const isHidden = (field: Field): boolean => field.kind === 'text' && field.isSecret

export function initialValue(root: Schema, schema: unknown = root): unknown {
  let left = MAX_FIELDS
  const fill = (given: unknown, depth: number): unknown => {
    if (--left < 0) return undefined
    const field = fieldOf(root, given)
    if (field.default !== undefined && !isHidden(field)) return field.default
    if (field.kind === 'const') return field.value
    if (field.kind === 'object') {
      const value: Record<string, unknown> = {}
      if (depth >= MAX_DEPTH) return value
      for (const { name, schema: each, isRequired } of field.properties) {
        if (left < 0) break
        const inner = isRequired ? fill(each, depth + 1) : defaultOf(each)
        if (inner !== undefined) define(value, name, inner)
      }
      return value
    }
    if (field.kind === 'array')
      return Array.from({ length: Math.min(field.minItems, 20) }, (_, index) => {
        const item = field.itemAt(index)
        return fill(item, depth + 1) ?? emptyOf(root, item)
      })
    if (field.kind === 'choices') return []
    if (field.kind === 'choice' && field.options.length === 1) return field.options[0]?.value
    return undefined
  }
  const defaultOf = (given: unknown): unknown => {
    left--
    const field = fieldOf(root, given)
    return isHidden(field) ? undefined : field.default
  }
  return fill(schema, 0)
}

/** A row of a list without a value: empty text, an empty list or group, and null for kinds that have no empty value. */
export function emptyOf(root: Schema, schema: unknown): unknown {
  const { kind, isNullable } = fieldOf(root, schema)
  if (kind === 'text') return ''
  return isNullable ? null : kind === 'array' || kind === 'choices' ? [] : kind === 'object' ? {} : null
}

/** Sets a member, also one with the name `__proto__`. */
export function define(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}
