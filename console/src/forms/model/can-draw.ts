/** Whether the field for a schema can show a value. Other values are shown as JSON: everything that is sent must be seen. */

import type { Field } from './field.ts'
import { isObject } from './schema.ts'
import { isSame } from './value.ts'

export function canDraw(field: Field, value: unknown): boolean {
  if (value === undefined) return true
  switch (field.kind) {
    case 'text':
      return typeof value === 'string'
    // Text that is no number is kept, so that the person can correct it.
    case 'number':
      return typeof value === 'number' || typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'choice':
      return typeof value === 'string' || field.options.some((option) => isSame(option.value, value))
    case 'choices':
      return Array.isArray(value) && value.every((each) => field.options.some((option) => isSame(option.value, each)))
    case 'const':
      return isSame(field.value, value)
    case 'object':
      return isObject(value)
    case 'array':
      return Array.isArray(value)
    // It draws values that fit no variant itself.
    case 'union':
    case 'any':
      return true
  }
}
