/** Warns about arguments whose names suggest a secret. */

import { isObject } from '../../base/json.ts'
import { visibleText } from '../../base/text/visible-text.ts'

const SECRET = /pass(?:word|wd|phrase)|pwd|secret|token(?!s$)|api[-_]?key|private[-_]?key|credential|cookie|^pin$|^otp$/i
const MAX_DEPTH = 64
const MAX_NAMES = 5000

export function secretParameters(definition: unknown): string[] {
  if (!isObject(definition)) return []
  const names = new Set<string>()
  collectNames(definition.inputSchema, names, 0)
  for (const each of Array.isArray(definition.arguments) ? definition.arguments : [])
    if (isObject(each) && typeof each.name === 'string') names.add(each.name)
  return [...names].filter((name) => SECRET.test(name)).map((name) => `Asks for ${visibleText(name)}, which may be a secret`)
}

/** The names of all properties, in nested schemas too: below `properties`, `items`, `allOf`, `$defs` and others. */
function collectNames(schema: unknown, names: Set<string>, depth: number): void {
  if (depth > MAX_DEPTH || names.size > MAX_NAMES) return
  if (Array.isArray(schema)) for (const each of schema) collectNames(each, names, depth + 1)
  else if (isObject(schema)) {
    if (isObject(schema.properties)) for (const name of Object.keys(schema.properties)) names.add(name)
    for (const each of Object.values(schema)) collectNames(each, names, depth + 1)
  }
}
