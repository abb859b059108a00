/**
 * JSON pointers into arguments, with `*` for any member or element. A member named `*` is written `~2`, so that such a member cannot
 * be confused with the wildcard.
 */

import { McpError } from '../../protocol/errors.ts'

const ANY = Symbol('*')

export interface Pointer {
  text: string
  segments: readonly (string | typeof ANY)[]
  isWild: boolean
}

export interface Selection {
  /** The values, each with its exact pointer. */
  found: { pointer: string; value: unknown }[]
  /** At least one branch of the arguments ends before the pointer does. */
  isIncomplete: boolean
}

/** Maximum number of values at one pointer, so that a decision takes bounded time. */
export const MAX_SELECTED = 1_000

export function parsePointer(text: string): Pointer {
  if (text !== '' && !text.startsWith('/')) {
    throw new McpError('ERR_CONFIG', `Expected a JSON pointer such as "/path" or "/items/*", got ${JSON.stringify(text)}`)
  }
  const segments = text
    .split('/')
    .slice(1)
    .map((segment) => (segment === '*' ? ANY : unescapeSegment(segment)))
  return { text, segments, isWild: segments.includes(ANY) }
}

/** Whether the pointer covers this member of the arguments. */
export const concerns = ({ segments }: Pointer, member: string): boolean =>
  segments[0] === undefined || segments[0] === ANY || segments[0] === member

/** Finds the values at a pointer. @throws McpError ERR_LIMIT for more than MAX_SELECTED values */
export function select(args: unknown, pointer: Pointer): Selection {
  if (!pointer.isWild) return selectOne(args, pointer)
  let found: Selection['found'] = [{ pointer: '', value: args }]
  let isIncomplete = false
  for (const segment of pointer.segments) {
    const next: Selection['found'] = []
    for (const { pointer: from, value } of found) {
      const keys = segment === ANY ? keysOf(value) : has(value, segment) ? [segment] : []
      if (keys.length === 0) isIncomplete = true
      if (next.length + keys.length > MAX_SELECTED) {
        throw new McpError('ERR_LIMIT', `There are more than ${MAX_SELECTED} values at ${pointer.text}`)
      }
      for (const key of keys) next.push({ pointer: `${from}/${escapeSegment(key)}`, value: (value as Record<string, unknown>)[key] })
    }
    found = next
  }
  return { found, isIncomplete }
}

/** The value at an exact pointer. */
export const valueAt = (args: unknown, pointer: string): unknown => select(args, parsePointer(pointer)).found[0]?.value

const NOTHING: Selection = { found: [], isIncomplete: true }

function selectOne(args: unknown, { text, segments }: Pointer): Selection {
  let value = args
  for (const segment of segments) {
    if (!has(value, segment as string)) return NOTHING
    value = (value as Record<string, unknown>)[segment as string]
  }
  return { found: [{ pointer: text, value }], isIncomplete: false }
}

const has = (value: unknown, key: string): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.hasOwn(value, key) &&
  (value as Record<string, unknown>)[key] !== undefined &&
  // `length` is an own property of an array, but not an element.
  !(Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(key))

const keysOf = (value: unknown): string[] => (typeof value === 'object' && value !== null ? Object.keys(value) : [])

export const escapeSegment = (key: string): string => (key === '*' ? '~2' : key.replaceAll('~', '~0').replaceAll('/', '~1'))

const unescapeSegment = (segment: string): string => (segment === '~2' ? '*' : segment.replaceAll('~1', '/').replaceAll('~0', '~'))
