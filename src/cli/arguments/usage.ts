/** How to call a tool from the command line, made from its schema. */

import { isObject } from '../../base/json.ts'
import type { Tool } from '../../client/index.ts'
import { choicesOf, propertyNames, propertyOf, requiredNames, typesOf } from './schema-view.ts'

/** `add title=TEXT [tags=TEXT ...]` */
export function usageOf({ name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>): string {
  const required = new Set(requiredNames(inputSchema, inputSchema))
  const parts = propertyNames(inputSchema, inputSchema).map((property) => {
    const form = formOf(property, propertyOf(inputSchema, property, inputSchema), inputSchema)
    return required.has(property) ? form : `[${form}]`
  })
  return [name, ...parts].join(' ')
}

function formOf(name: string, schema: unknown, root: unknown): string {
  const choices = choicesOf(schema, root)
  if (choices.length > 0 && choices.length <= 8)
    return `${name}=${choices.map((choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice))).join('|')}`
  const types = typesOf(schema, root)
  if (types.has('array')) return `${name}=... ...`
  if (types.has('integer') || types.has('number')) return `${name}=NUMBER`
  if (types.has('boolean')) return `${name}=true|false`
  if (types.has('object')) return `${name}:=JSON`
  return `${name}=${isObject(schema) && typeof schema.format === 'string' ? schema.format.toUpperCase() : 'TEXT'}`
}
