/** Expands a template with values to a URI: RFC 6570, levels 1 to 4. */

import { encode } from './encode.ts'
import { type Expression, OPERATORS, type Part, type Variable } from './parse.ts'

/** The value of a variable: text, a list, or a map. */
export type TemplateValue =
  | string
  | number
  | boolean
  | readonly (string | number | boolean)[]
  | Readonly<Record<string, string | number | boolean>>

/** Values by the name of their variable. A variable without a value is left out. */
export type TemplateValues = Readonly<Record<string, TemplateValue | null | undefined>>

export const expandParts = (parts: readonly Part[], values: TemplateValues): string =>
  parts.map((part) => (typeof part === 'string' ? part : expandExpression(part, values))).join('')

function expandExpression({ operator, variables }: Expression, values: TemplateValues): string {
  const { first, separator } = OPERATORS[operator]
  const written: string[] = []
  for (const variable of variables) {
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined
    if (value === undefined || value === null) continue
    const text = expandVariable(variable, value, operator)
    if (text !== undefined) written.push(text)
  }
  return written.length === 0 ? '' : first + written.join(separator)
}

/** Undefined for an empty list or map, which counts as absent. */
function expandVariable(variable: Variable, value: TemplateValue, operator: Expression['operator']): string | undefined {
  const { isNamed, separator, ifEmpty, keepsReserved } = OPERATORS[operator]
  const write = (text: string | number | boolean): string => encode(String(text), keepsReserved)
  const named = (text: string): string => (isNamed ? `${variable.name}${text === '' ? ifEmpty : `=${text}`}` : text)

  if (typeof value !== 'object') {
    const text = String(value)
    return named(write(variable.maxLength === undefined ? text : [...text].slice(0, variable.maxLength).join('')))
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return undefined
    const items = (value as (string | number | boolean)[]).map(write)
    return variable.isExploded ? items.map(named).join(separator) : named(items.join(','))
  }
  const entries = Object.entries(value as Record<string, string | number | boolean>)
  if (entries.length === 0) return undefined
  if (!variable.isExploded) return named(entries.map(([key, each]) => `${write(key)},${write(each)}`).join(','))
  const pairs = entries.map(([key, each]) => {
    const text = write(each)
    return isNamed && text === '' ? `${write(key)}${ifEmpty}` : `${write(key)}=${text}`
  })
  return pairs.join(separator)
}
