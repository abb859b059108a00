/** Converts one word of a command line to the type in the schema. */

import { UsageError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { choicesOf, elementOf, typesOf } from './schema-view.ts'

export interface Read {
  value: unknown
  /** One element of a list; more may follow. */
  isElement: boolean
}

/** @param root the document that references in `schema` point into */
export function coerce(key: string, text: string, schema: unknown, root: unknown): Read {
  const types = typesOf(schema, root)
  const choices = choicesOf(schema, root)
  if (choices.length > 0 && !types.has('array')) return plain(choose(key, text, choices, types))
  if (types.size === 0) return plain(text)
  if (types.has('array')) return element(key, text, schema, root, types)
  if (types.has('object') && /^\s*[{]/.test(text)) return plain(jsonOf(key, text, 'an object'))
  const value = scalar(text, types)
  if (value !== undefined) return plain(value)
  throw new UsageError(`${key}: expected ${describeTypes(types)}, got ${JSON.stringify(text)}`, hintFor(key, types))
}

const plain = (value: unknown): Read => ({ value, isElement: false })

function choose(key: string, text: string, choices: readonly unknown[], types: ReadonlySet<string>): unknown {
  const found = choices.find((choice) => (typeof choice === 'string' ? choice === text : JSON.stringify(choice) === text))
  if (found !== undefined) return found
  // Alternatives beside the choices, such as "one of these, or any number".
  const others = scalar(text, new Set([...types].filter((type) => !choices.some((choice) => typeof choice === type))))
  if (others !== undefined) return others
  const names = choices.map((choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice)))
  const meant = nearest(text, names)
  throw new UsageError(
    `${key}: expected one of ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', ...' : ''}, got ${JSON.stringify(text)}`,
    meant === undefined ? undefined : `Did you mean ${key}=${meant}?`,
  )
}

/** Either a whole list as JSON, or one element. */
function element(key: string, text: string, schema: unknown, root: unknown, types: ReadonlySet<string>): Read {
  if (/^\s*\[/.test(text)) return plain(jsonOf(key, text, 'a list'))
  const of = elementOf(schema, root)
  const { value } = coerce(key, text, of, root)
  // A schema that accepts both a string and a list of strings gets the string.
  return { value, isElement: !(types.has('string') && typeof value === 'string') }
}

function scalar(text: string, types: ReadonlySet<string>): string | number | boolean | null | undefined {
  if (types.has('null') && text === 'null') return null
  if (types.has('boolean')) {
    if (/^(?:true|yes|on)$/i.test(text)) return true
    if (/^(?:false|no|off)$/i.test(text)) return false
  }
  const number = /^\s*$/.test(text) ? Number.NaN : Number(text)
  if (types.has('integer') && Number.isSafeInteger(number)) return number
  if (types.has('number') && Number.isFinite(number)) return number
  return types.has('string') ? text : undefined
}

function jsonOf(key: string, text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${key}: expected ${what} as JSON (${(error as Error).message})`)
  }
}

const WORDS: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  null: 'null',
  string: 'text',
  array: 'a list',
}

const describeTypes = (types: ReadonlySet<string>): string =>
  [...types].map((type) => (Object.hasOwn(WORDS, type) ? WORDS[type] : type)).join(' or ')

const hintFor = (key: string, types: ReadonlySet<string>): string | undefined =>
  types.has('object') ? `Use ${key}.NAME=VALUE for one member, or ${key}:='{...}' for the whole object` : undefined
