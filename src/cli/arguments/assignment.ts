/** `key=value`, `key:=json`, `a.b=1`, `key=@file`: words of a command line, read into arguments by the tool's schema. */

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
  /** Unknown names are sent as they are. */
  isLoose?: boolean
  maxFileBytes?: number
}

const DEFAULT_MAX_FILE_BYTES = 16 * 1024 * 1024
const MAX_DEPTH = 32

/** @param start arguments given as a whole, which the words add to */
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
      `Expected key=value, and got ${JSON.stringify(word)}`,
      'Write key=value for text, numbers and switches, key:=JSON for anything else, key=@FILE for what is in a file',
    )
  return { key: match[1] as string, value: match[3] as string, isJson: match[2] === ':' }
}

/** The way through the schema that a dotted key means. A property whose own name has dots in it comes first. */
function follow(key: string, { schema, isLoose }: AssignmentOptions): { path: string[]; schema: unknown } {
  const path = key.split('.')
  // Before the schema is asked: a tool may list such a name, and to set it would change the prototype.
  if (path.some((step) => step === '__proto__')) throw new UsageError(`${JSON.stringify(key)} is not the name of an argument`)
  if (propertyOf(schema, key, schema) !== undefined) return { path: [key], schema: propertyOf(schema, key, schema) }
  if (path.length > MAX_DEPTH || path.includes('')) throw new UsageError(`${JSON.stringify(key)} is not a way to an argument`)
  let at: unknown = schema
  for (const [i, step] of path.entries()) {
    const next = propertyOf(at, step, schema)
    if (next === undefined && at !== undefined && !isLoose) refuseUnknown(at, step, path.slice(0, i), schema)
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
    `There is no argument ${JSON.stringify(prefix + step)}`,
    meant !== undefined
      ? `Did you mean ${JSON.stringify(prefix + meant)}?`
      : names.length === 0
        ? 'It takes none. --loose sends it all the same.'
        : `It takes ${list}. --loose sends others as well.`,
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
    throw new UsageError(
      `${key}: expected JSON, and got ${excerpt(text)} (${(error as Error).message})`,
      `Write ${key}=TEXT for plain text`,
    )
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
      'Write @@ for a value that begins with @',
    )
  }
}

/** A key that is given again adds to a list, where the schema has one. */
function put(args: Record<string, unknown>, path: readonly string[], { value, isElement }: Read, key: string, given: Set<string>): void {
  let holder = args
  for (const step of path.slice(0, -1)) {
    const next = Object.hasOwn(holder, step) ? holder[step] : undefined
    if (next !== undefined && !isObject(next))
      throw new UsageError(`${key}: ${JSON.stringify(step)} has a value already, and is not an object`)
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
