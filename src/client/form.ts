/** Forms: the values a person starts from. */

import { isObject } from '../base/json.ts'
import type { FormSchema } from '../protocol/model/elicitation.ts'

/** What was filled in, and the form's defaults for what was not. */
export function withDefaults(content: Record<string, unknown>, schema: FormSchema): Record<string, unknown> {
  const filled: Record<string, unknown> = { ...content }
  for (const [name, field] of Object.entries(schema.properties)) {
    if ((!Object.hasOwn(filled, name) || filled[name] === undefined) && isObject(field) && field.default !== undefined)
      filled[name] = field.default
  }
  return filled
}
