/**
 * Matches a URI with a template, in linear time for any template: each part is tried at all reachable places at once, so
 * that there is no backtracking.
 */

import { encode } from './encode.ts'
import { type Expression, OPERATORS, type Part } from './parse.ts'
import { climbs, decode, type MatchedValues, type Reading, readExpression, settlePrefixes } from './read.ts'

export const MAX_URI_LENGTH = 8192

/** Undefined when the URI does not match, or when it or one of its values contains `..` segments. */
export function matchParts(parts: readonly Part[], uri: string): MatchedValues | undefined {
  if (uri.length > MAX_URI_LENGTH || /%(?![0-9A-Fa-f]{2})/.test(uri)) return undefined
  const text = encode(uri, true)
  const [first] = parts
  if (typeof first === 'string' && !text.startsWith(first)) return undefined
  const plain = decode(text)
  if (plain === undefined || climbs(plain)) return undefined
  const reached = reachAll(parts, text)
  if (!reached) return undefined
  const reading: Reading = { values: {}, prefixes: [] }
  let end = text.length
  for (let i = parts.length - 1; i >= 0; i--) {
    const part = parts[i] as Part
    if (typeof part === 'string') {
      end -= part.length
      continue
    }
    const start = latestStart(part, text, reached[i] as Uint8Array, end)
    if (!readExpression(part, text.slice(start, end), reading)) return undefined
    end = start
  }
  return settlePrefixes(reading) ? reading.values : undefined
}

/** For each part, the places where it may start. Undefined when the URI does not match. */
function reachAll(parts: readonly Part[], text: string): Uint8Array[] | undefined {
  const boundaries = boundariesOf(text)
  const reached: Uint8Array[] = []
  let current = new Uint8Array(text.length + 1)
  current[0] = 1
  for (const part of parts) {
    reached.push(current)
    const next = new Uint8Array(text.length + 1)
    const isAnywhere =
      typeof part === 'string' ? passLiteral(part, text, current, next) : passExpression(part, text, boundaries, current, next)
    if (!isAnywhere) return undefined
    current = next
  }
  return current[text.length] === 1 ? reached : undefined
}

/** The places where a value may begin and end: not inside an escape, and not inside a character of several escapes. */
function boundariesOf(text: string): Uint8Array {
  const boundaries = new Uint8Array(text.length + 1).fill(1)
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', at + 3)) {
    boundaries.fill(0, at + 1, at + 3)
    // The bytes of a character after its first are 80 to BF.
    if ('89ABab'.includes(text.charAt(at + 1))) boundaries[at] = 0
  }
  return boundaries
}

function passLiteral(literal: string, text: string, from: Uint8Array, to: Uint8Array): boolean {
  let isAnywhere = false
  for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + 1)) {
    if (from[at] !== 1) continue
    to[at + literal.length] = 1
    isAnywhere = true
  }
  return isAnywhere
}

// Counts pieces and length from the latest start only. Positions that an earlier start reaches are already marked.
function passExpression(expression: Expression, text: string, boundaries: Uint8Array, from: Uint8Array, to: Uint8Array): boolean {
  const { lead, separator, stops, maxPieces, maxLength } = spanOf(expression)
  let isAnywhere = false
  let isInside = false
  let pieces = 0
  let length = 0
  for (let at = 0; at <= text.length; at++) {
    if (boundaries[at] !== 1) continue
    const isStart = from[at] === 1
    if (isInside || (isStart && lead !== NONE)) {
      to[at] = 1
      isAnywhere = true
    }
    const code = text.charCodeAt(at)
    if (isStart && (lead === NONE || code === lead)) {
      isInside = true
      pieces = 1
      length = 0
      if (lead !== NONE) continue
    }
    length++
    if (code === separator) pieces++
    if (stops[code] === 1 || pieces > maxPieces || length > maxLength) isInside = false
  }
  return isAnywhere
}

/** The latest start from which the expression reaches `end`. Earlier variables take as much as they can. */
function latestStart(expression: Expression, text: string, from: Uint8Array, end: number): number {
  const { lead, separator, stops, maxPieces } = spanOf(expression)
  let pieces = 1
  for (let at = end - 1; at >= 0; at--) {
    const code = text.charCodeAt(at)
    if (code === lead && from[at] === 1) return at
    if (code === separator) pieces++
    if (stops[code] === 1 || pieces > maxPieces) break
    if (lead === NONE && from[at] === 1) return at
  }
  return end
}

interface Span {
  /** The first character, or NONE. An expression with one expands to nothing when no variable has a value. */
  lead: number
  separator: number
  /** Characters that the expression never contains, by code. */
  stops: Uint8Array
  maxPieces: number
  maxLength: number
}

const NONE = -1

/** The form of the text that an expression can expand to. */
function spanOf({ operator, variables }: Expression): Span {
  const { first, separator } = OPERATORS[operator]
  const [only] = variables
  const isSingle = variables.length === 1
  // Values may contain commas and dots. The other separators are escaped in values.
  const hasAnyPieces = variables.some(({ isExploded }) => isExploded) || (isSingle && (separator === ',' || separator === '.'))
  return {
    lead: first === '' ? NONE : first.charCodeAt(0),
    separator: separator.charCodeAt(0),
    stops: STOPS[operator],
    maxPieces: hasAnyPieces ? Number.POSITIVE_INFINITY : variables.length,
    maxLength: (isSingle && first === '' ? only?.maxLength : undefined) ?? Number.POSITIVE_INFINITY,
  }
}

function stopsAt(characters: string): Uint8Array {
  const stops = new Uint8Array(128)
  for (const character of characters) stops[character.charCodeAt(0)] = 1
  return stops
}

const STOPS: Readonly<Record<Expression['operator'], Uint8Array>> = {
  '': stopsAt('/?#'),
  '+': stopsAt(''),
  '#': stopsAt(''),
  '.': stopsAt('/?#'),
  '/': stopsAt('?#'),
  ';': stopsAt('/?#'),
  '?': stopsAt('#'),
  '&': stopsAt('#'),
}
