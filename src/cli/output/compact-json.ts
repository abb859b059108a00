/** JSON for people: values that fit on one line stay on one line. */

import { jsonText } from './json.ts'
import { widthOf } from './width.ts'

/** Lines of at most `columns`, where possible. */
export function compactJson(value: unknown, columns: number, lead = '', tail = ''): string[] {
  const whole = `${lead}${jsonText(value)}${tail}`
  if (typeof value !== 'object' || value === null || widthOf(whole) <= columns) return [whole]
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const indent = `${/^ */.exec(lead)?.[0] ?? ''}  `
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((each) => ['', each])
    : Object.entries(value).map(([key, each]) => [`${jsonText(key)}: `, each])
  const inner = entries.flatMap(([key, each], i) => compactJson(each, columns, `${indent}${key}`, i < entries.length - 1 ? ',' : ''))
  return [`${lead}${open}`, ...inner, `${indent.slice(2)}${close}${tail}`]
}
