/** Reads the values of an expression's variables from a part of a URI. */

import { type Expression, OPERATORS, type Variable } from './parse.ts'

/** The value of a variable in a URI that matches a template: text, a list, or a map. */
export type MatchedValue = string | string[] | Record<string, string>

export type MatchedValues = Record<string, MatchedValue>

export interface Reading {
  values: MatchedValues
  /** The text of variables like `{name:3}`: the start of a value that may occur in full elsewhere. */
  prefixes: { name: string; maxLength: number; text: string }[]
}

/** False when the text does not match the expression, or a variable would get two values. */
export function readExpression(expression: Expression, text: string, reading: Reading): boolean {
  const { first, separator, isNamed } = OPERATORS[expression.operator]
  if (text === '') return first !== ''
  const body = text.slice(first.length)
  return isNamed ? readNamed(expression.variables, body, separator, reading) : readOrdered(expression.variables, body, separator, reading)
}

/** The longest prefix is the value, unless the value was read in full. All other prefixes must match its start. */
export function settlePrefixes({ values, prefixes }: Reading): boolean {
  prefixes.sort((a, b) => b.maxLength - a.maxLength)
  return prefixes.every(({ name, maxLength, text }) => {
    const known = Object.hasOwn(values, name) ? values[name] : text
    values[name] = known as MatchedValue
    return typeof known === 'string' && [...known].slice(0, maxLength).join('') === text
  })
}

/** `a,b` for {x,y}: one item per variable. An exploded variable takes all items that the later variables do not need. */
function readOrdered(variables: readonly Variable[], body: string, separator: string, reading: Reading): boolean {
  const [only] = variables
  if (only && variables.length === 1 && !only.isExploded) return put(only, [body], reading)
  const items = body.split(separator)
  for (const [i, variable] of variables.entries()) {
    const after = variables.length - i - 1
    const mine = items.splice(0, variable.isExploded ? Math.max(1, items.length - after) : 1)
    if (mine.length > 0 && !put(variable, mine, reading)) return false
  }
  return items.length === 0
}

/** `x=1&y=2` in any order. A name that is not in the template matches only if an exploded variable takes it as a key. */
function readNamed(variables: readonly Variable[], body: string, separator: string, reading: Reading): boolean {
  const rest = variables.find(({ isExploded }) => isExploded)
  const byName = new Map(variables.map((variable) => [variable.name, { variable, items: [] as string[] }]))
  const map: Record<string, string> = Object.create(null)
  for (const pair of body.split(separator)) {
    const equals = pair.indexOf('=')
    const name = equals < 0 ? pair : pair.slice(0, equals)
    const text = equals < 0 ? '' : pair.slice(equals + 1)
    const known = byName.get(name)
    if (known) {
      if (known.items.push(text) > 1 && !known.variable.isExploded) return false
      continue
    }
    const [key, value] = [safeDecode(name), safeDecode(text)]
    if (!rest || key === undefined || value === undefined || Object.hasOwn(map, key)) return false
    map[key] = value
  }
  for (const { variable, items } of byName.values()) if (items.length > 0 && !put(variable, items, reading)) return false
  return !rest || Object.keys(map).length === 0 || record(rest.name, map, reading)
}

function put(variable: Variable, items: readonly string[], reading: Reading): boolean {
  const decoded: string[] = []
  for (const item of items) {
    const value = safeDecode(item)
    if (value === undefined) return false
    decoded.push(value)
  }
  const { name, maxLength, isExploded } = variable
  const [text] = decoded as [string]
  if (maxLength === undefined) return record(name, isExploded ? decoded : text, reading)
  reading.prefixes.push({ name, maxLength, text })
  return [...text].length <= maxLength
}

/** A variable that occurs several times must have the same value each time. */
function record(name: string, value: MatchedValue, { values }: Reading): boolean {
  if (Object.hasOwn(values, name)) return JSON.stringify(values[name]) === JSON.stringify(value)
  values[name] = value
  return true
}

/** Undefined for broken escapes, control characters and `..` segments, also if they are encoded twice. */
function safeDecode(text: string): string | undefined {
  const value = decode(text)
  return value === undefined || hasControl(value) || climbs(value) ? undefined : value
}

export function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Whether the value has a `..` segment, as it is or after a handler decodes it again. */
export const climbs = (value: string): boolean => hasParent(value) || (value.includes('%') && hasParent(decode(value) ?? ''))

const hasParent = (value: string): boolean => value.includes('..') && value.split(/[/\\]/).includes('..')

const hasControl = (value: string): boolean => {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}
