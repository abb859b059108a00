/** Whether a value has the shape that a field asks for. A quick look, for unions; the real check is in validate.ts. */

import { fieldOf } from './field.ts'
import { isObject, type Schema } from './schema.ts'
import { isSame } from './value.ts'

export function fits(root: Schema, schema: unknown, value: unknown, depth = 0): boolean {
  if (depth > 4) return true
  const field = fieldOf(root, schema)
  if (value === null) return field.isNullable || field.kind === 'any' || (field.kind === 'const' && field.value === null)
  switch (field.kind) {
    case 'text':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    case 'const':
      return isSame(field.value, value)
    case 'choice':
      return field.options.some((option) => isSame(option.value, value))
    case 'array':
    case 'choices':
      return Array.isArray(value)
    case 'object': {
      if (!isObject(value)) return false
      // Constants distinguish variants: `{ type: { const: 'file' } }`.
      const marks = field.properties.filter(({ name, schema: each }) => Object.hasOwn(value, name) && fieldOf(root, each).kind === 'const')
      return marks.every(({ name, schema: each }) => fits(root, each, value[name], depth + 1))
    }
    case 'union':
      return field.variants.some((variant) => fits(root, variant.schema, value, depth + 1))
    case 'any':
      return true
  }
}
