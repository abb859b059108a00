/**
 * URI to values: the way back, in time proportional to the URI whatever the template. Every part is tried at all
 * reachable places at once, so there is nothing to back-track.
 */

import { type Expression, OPERATORS, type Part, type Variable } from './parse.ts'

export type MatchedValue = string | string[] | Record<string, string>

export type MatchedValues = Record<string, MatchedValue>

export const MAX_URI_LENGTH = 8192

/** Undefined when the URI does not fit, or fits only with a value that climbs out of a directory. */
export function matchParts(parts: readonly Part[], uri: string): MatchedValues | undefined {
  const [first] = parts
  if (uri.length > MAX_URI_LENGTH || (typeof first === 'string' && !uri.startsWith(first))) return undefined
  const reached = reachAll(parts, uri)
  if (!reached) return undefined
  const values: MatchedValues = {}
  let end = uri.length
  for (let i = parts.length - 1; i >= 0; i--) {
    const part = parts[i] as Part
    const before = reached[i] as Uint8Array
    if (typeof part === 'string') {
      end -= part.length
      continue
    }
    const start = latestStart(part, uri, before, end)
    if (!readExpression(part, uri.slice(start, end), values)) return undefined
    end = start
  }
  return values
}

/** For each part, the places it may start at, given the parts before it; undefined when the end is not reached. */
function reachAll(parts: readonly Part[], uri: string): Uint8Array[] | undefined {
  const reached: Uint8Array[] = []
  let current = new Uint8Array(uri.length + 1)
  current[0] = 1
  for (const part of parts) {
    reached.push(current)
    const next = new Uint8Array(uri.length + 1)
    const isAnywhere = typeof part === 'string' ? passLiteral(part, uri, current, next) : passExpression(part, uri, current, next)
    if (!isAnywhere) return undefined
    current = next
  }
  return current[uri.length] === 1 ? reached : undefined
}

function passLiteral(literal: string, uri: string, from: Uint8Array, to: Uint8Array): boolean {
  let isAnywhere = false
  for (let at = uri.indexOf(literal); at >= 0; at = uri.indexOf(literal, at + 1)) {
    if (from[at] !== 1) continue
    to[at + literal.length] = 1
    isAnywhere = true
  }
  return isAnywhere
}

function passExpression(expression: Expression, uri: string, from: Uint8Array, to: Uint8Array): boolean {
  const { first } = OPERATORS[expression.operator]
  const isStop = STOPS[expression.operator]
  let isAnywhere = false
  let isInside = false
  for (let at = 0; at <= uri.length; at++) {
    // An expression with a lead-in character writes nothing at all when no variable has a value.
    if (isInside || (first !== '' && from[at] === 1)) {
      to[at] = 1
      isAnywhere = true
    }
    const code = uri.charCodeAt(at)
    if (from[at] === 1 && (first === '' || code === first.charCodeAt(0))) {
      isInside = true
      if (first !== '') continue
    }
    if (isStop(code)) isInside = false
  }
  return isAnywhere
}

/** The place nearest to `end` from which the expression can span to it: earlier variables take what they can. */
function latestStart(expression: Expression, uri: string, from: Uint8Array, end: number): number {
  const { first } = OPERATORS[expression.operator]
  const isStop = STOPS[expression.operator]
  if (first === '') {
    for (let at = end - 1; at >= 0 && !isStop(uri.charCodeAt(at)); at--) if (from[at] === 1) return at
    return end
  }
  const lead = first.charCodeAt(0)
  for (let at = end - 1; at >= 0; at--) {
    const code = uri.charCodeAt(at)
    if (code === lead && from[at] === 1) return at
    if (isStop(code)) break
  }
  return end
}

const SLASH = 0x2f
const QUESTION = 0x3f
const HASH = 0x23

// NaN, past the end of the text, stops everything.
const atPathEnd = (code: number): boolean => code === SLASH || code === QUESTION || code === HASH || Number.isNaN(code)
const atQuery = (code: number): boolean => code === QUESTION || code === HASH || Number.isNaN(code)
const atFragment = (code: number): boolean => code === HASH || Number.isNaN(code)
const atEnd = (code: number): boolean => Number.isNaN(code)

const STOPS: Readonly<Record<Expression['operator'], (code: number) => boolean>> = {
  '': atPathEnd,
  '+': atEnd,
  '#': atEnd,
  '.': atPathEnd,
  '/': atQuery,
  ';': atPathEnd,
  '?': atFragment,
  '&': atFragment,
}

function readExpression(expression: Expression, text: string, values: MatchedValues): boolean {
  const { first, separator, isNamed } = OPERATORS[expression.operator]
  if (text === '') return first !== ''
  const body = text.slice(first.length)
  return isNamed ? readNamed(expression.variables, body, separator, values) : readOrdered(expression, body, separator, values)
}

/** `a,b` for {x,y}: one item a variable, the last exploded variable takes what is left. */
function readOrdered(expression: Expression, body: string, separator: string, values: MatchedValues): boolean {
  const { variables } = expression
  const [only] = variables
  if (only && variables.length === 1 && !only.isExploded) {
    // A path of several segments is a list; one variable that is not exploded stands for one segment.
    if (expression.operator === '/' && body.includes('/')) return false
    return put(only, [body], values)
  }
  const items = body.split(separator)
  for (const [i, variable] of variables.entries()) {
    const mine = variable.isExploded && i === variables.length - 1 ? items.splice(0) : items.splice(0, 1)
    if (mine.length > 0 && !put(variable, mine, values)) return false
  }
  return items.length === 0
}

/** `x=1&y=2` in any order; a name the template does not have is no match. */
function readNamed(variables: readonly Variable[], body: string, separator: string, values: MatchedValues): boolean {
  const rest = variables.find(({ isExploded }) => isExploded)
  for (const pair of body.split(separator)) {
    const equals = pair.indexOf('=')
    const name = equals < 0 ? pair : pair.slice(0, equals)
    const text = equals < 0 ? '' : pair.slice(equals + 1)
    const variable = variables.find((each) => each.name === name)
    if (variable && !variable.isExploded) {
      if (Object.hasOwn(values, name) || !put(variable, [text], values)) return false
    } else if (variable) {
      const value = safeDecode(text)
      if (value === undefined) return false
      const list = Object.hasOwn(values, name) ? (values[name] as string[]) : []
      list.push(value)
      values[name] = list
    } else if (rest) {
      const [key, value] = [safeDecode(name), safeDecode(text)]
      if (key === undefined || value === undefined) return false
      const map = Object.hasOwn(values, rest.name) ? (values[rest.name] as Record<string, string>) : Object.create(null)
      map[key] = value
      values[rest.name] = map
    } else return false
  }
  return true
}

function put(variable: Variable, items: readonly string[], values: MatchedValues): boolean {
  const decoded: string[] = []
  for (const item of items) {
    const value = safeDecode(item)
    if (value === undefined) return false
    if (variable.maxLength !== undefined && [...value].length > variable.maxLength) return false
    decoded.push(value)
  }
  values[variable.name] = variable.isExploded ? decoded : (decoded[0] as string)
  return true
}

/** Undefined for broken escapes, control characters, and anything that names a parent directory, however encoded. */
function safeDecode(text: string): string | undefined {
  const value = decode(text)
  if (value === undefined || hasControl(value)) return undefined
  if (climbs(value)) return undefined
  // A handler that decodes once more must not be surprised either.
  return value.includes('%') && climbs(decode(value) ?? '') ? undefined : value
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const climbs = (value: string): boolean => value.includes('..') && value.split(/[/\\]/).includes('..')

const hasControl = (value: string): boolean => {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}
