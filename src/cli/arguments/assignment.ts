/** Reads `key=value`, `key:=json`, `a.b=1` and `key=@file` into arguments, guided by the tool's schema. */

import { resolve } from 'node:path'
import { isObject } from '../../base/json.ts'
import type { Tool } from '../../client/index.ts'
import { readAtMost, UnfitFile } from '../../files/plain-file.ts'
import { UsageError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { coerce, type Read } from './coerce.ts'
import { propertyNames, propertyOf, takesOthers } from './schema-view.ts'

export interface AssignmentOptions {
  schema: Tool['inputSchema']
  cwd: string
  /** Accepts names that the schema does not have. */
  allowsUnknown?: boolean
  maxFileBytes?: number
}

const DEFAULT_MAX_FILE_BYTES = 16 * 1024 * 1024
const MAX_DEPTH = 32

/** @param start arguments given as one JSON object, to which the words are added */
export async function assign(
  words: readonly string[],
  options: AssignmentOptions,
  start: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const args: Record<string, unknown> = { ...start }
  const given = new Set<string>()
  for (const word of words) {
    const { key, value, isJson } = split(word)
    const { path, schema } = follow(key, options)
    const read = await readValue(key, value, isJson, schema, options)
    put(args, path, read, key, given)
  }
  return args
}

interface Assignment {
  key: string
  value: string
  isJson: boolean
}

function split(word: string): Assignment {
  const match = /^([^=]*?)(:?)=([\s\S]*)$/.exec(word)
  if (!match || match[1] === '')
    throw new UsageError(
      `Expected key=value, got ${JSON.stringify(word)}`,
      'Write key=value for text, numbers and true/false, key:=JSON for other values, key=@FILE for the content of a file',
    )
  return { key: match[1] as string, value: match[3] as string, isJson: match[2] === ':' }
}

/** The path in the schema for a dotted key. A property with dots in its own name comes first. */
function follow(key: string, { schema, allowsUnknown }: AssignmentOptions): { path: string[]; schema: unknown } {
  const path = key.split('.')
  // Checked before the schema: a tool may declare such a name, and setting it would change the prototype.
  if (path.some((step) => step === '__proto__')) throw new UsageError(`${JSON.stringify(key)} is not a valid argument name`)
  if (propertyOf(schema, key, schema) !== undefined) return { path: [key], schema: propertyOf(schema, key, schema) }
  if (path.length > MAX_DEPTH || path.includes('')) throw new UsageError(`${JSON.stringify(key)} is not a valid path to an argument`)
  let at: unknown = schema
  for (const [i, step] of path.entries()) {
    const next = propertyOf(at, step, schema)
    if (next === undefined && at !== undefined && !allowsUnknown) refuseUnknown(at, step, path.slice(0, i), schema)
    at = next
  }
  return { path, schema: at }
}

function refuseUnknown(at: unknown, step: string, before: readonly string[], root: unknown): void {
  const names = propertyNames(at, root)
  if (takesOthers(at, root)) return
  const prefix = before.length === 0 ? '' : `${before.join('.')}.`
  const meant = nearest(step, names)
  const list = names.map((name) => prefix + name).join(', ')
  throw new UsageError(
    `Unknown argument ${JSON.stringify(prefix + step)}`,
    meant !== undefined
      ? `Did you mean ${JSON.stringify(prefix + meant)}?`
      : names.length === 0
        ? 'The tool takes no arguments. Use --no-validate to send it anyway.'
        : `Expected: ${list}. Use --no-validate to send others.`,
  )
}

async function readValue(key: string, text: string, isJson: boolean, schema: unknown, options: AssignmentOptions): Promise<Read> {
  const content = text.startsWith('@') && !text.startsWith('@@') ? await fromFile(key, text.slice(1), options) : text.replace(/^@@/, '@')
  if (isJson) return { value: parseJson(key, content), isElement: false }
  return coerce(key, content, schema, options.schema)
}

export function parseJson(key: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${key}: expected JSON, got ${excerpt(text)} (${(error as Error).message})`, `Use ${key}=TEXT for plain text`)
  }
}

async function fromFile(key: string, name: string, { cwd, maxFileBytes = DEFAULT_MAX_FILE_BYTES }: AssignmentOptions): Promise<string> {
  const path = resolve(cwd, name)
  try {
    return (await readAtMost(path, maxFileBytes, 'maxFileBytes')).toString('utf8')
  } catch (error) {
    if (error instanceof UnfitFile) throw new UsageError(`${key}: ${name}: ${error.message}`)
    throw new UsageError(
      `${key}: ${name} cannot be read (${(error as NodeJS.ErrnoException).code})`,
      'Use @@ for a value that starts with @',
    )
  }
}

/** A repeated key adds to a list, if the schema has one. */
function put(args: Record<string, unknown>, path: readonly string[], { value, isElement }: Read, key: string, given: Set<string>): void {
  let holder = args
  for (const step of path.slice(0, -1)) {
    const next = Object.hasOwn(holder, step) ? holder[step] : undefined
    if (next !== undefined && !isObject(next))
      throw new UsageError(`${key}: ${JSON.stringify(step)} already has a value that is not an object`)
    const inner: Record<string, unknown> = isObject(next) ? next : {}
    holder[step] = inner
    holder = inner
  }
  const last = path.at(-1) as string
  const isFirst = !given.has(key)
  given.add(key)
  if (isElement) {
    const before = isFirst || !Object.hasOwn(holder, last) ? [] : holder[last]
    holder[last] = [...(Array.isArray(before) ? before : []), value]
    return
  }
  if (!isFirst) throw new UsageError(`${JSON.stringify(key)} is given twice`)
  holder[last] = value
}

const excerpt = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text)
