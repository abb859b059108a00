/**
 * Proposes a pattern for similar calls: other files of the same folder, other pages of the same site. Other values stay exact, and
 * arguments with secrets get no pattern. A pattern never covers more than it shows: a port is always written out.
 */

import { isAbsolute, posix, win32 } from 'node:path'
import { isObject } from '../../../base/json.ts'
import { redact } from '../../../base/text/redact.ts'
import { canonicalJson } from '../../../protocol/model/digest-json.ts'
import type { ArgumentRules, ArgumentTest } from '../../model/rule.ts'
import type { TrustTier } from '../../model/server-spec.ts'
import { effectivePort } from '../../policy/argument-test.ts'
import { escapeSegment } from '../../policy/pointer.ts'
import { isCodeName } from '../../server-command/code-arguments.ts'

type Json = Readonly<Record<string, unknown>>

/** Larger arguments are granted exactly, or not at all. */
const MAX_DEPTH = 4
const MAX_RULES = 64

const IS_FOLDER = /dir|folder|cwd|root|workspace/i

export interface ProposeOptions {
  /** The input schema of the tool, which may list the possible values of an argument. */
  schema?: unknown
  /** Tier of the server. For an untrusted server texts stay exact, because it decides how to read them. Default: untrusted. */
  tier?: TrustTier
}

/** @param args the arguments of the call; they match the pattern */
export function proposePattern(args: Json, { schema = {}, tier = 'untrusted' }: ProposeOptions = {}): ArgumentRules {
  // Patterns are shown and stored in plain text. A call with a secret is granted by its digest instead.
  if (canonicalJson(redact(args)) !== canonicalJson(args)) return {}
  const rules = membersOf(args, { schema, tier }, '', 0)
  // Equality is the narrowest pattern.
  return rules.length > MAX_RULES ? { '': { eq: args } } : Object.fromEntries(rules)
}

/** Whether a proposed pattern covers nothing but the arguments that it was made for. */
export const isExactPattern = (pattern: ArgumentRules): boolean =>
  Object.values(pattern).every((test) => Object.keys(test).every((name) => name === 'eq' || name === 'schema'))

type Entry = [pointer: string, test: ArgumentTest]

function membersOf(object: Json, { schema, tier }: ProposeOptions, pointer: string, depth: number): Entry[] {
  const names = Object.keys(object)
  // In a pattern the name `*` would mean every name.
  if (names.length === 0 || names.includes('*')) return [[pointer, { eq: object }]]
  const members = names.flatMap((name) =>
    entriesOf(object[name], { schema: propertySchema(schema, name), tier }, `${pointer}/${escapeSegment(name)}`, name, depth),
  )
  // Arguments that a pattern does not mention never match it. Inside an argument this needs a rule.
  return depth === 0 ? members : [[pointer, { schema: { propertyNames: { enum: names } } }], ...members]
}

function entriesOf(value: unknown, about: ProposeOptions, pointer: string, name: string, depth: number): Entry[] {
  if (isObject(value) && depth < MAX_DEPTH) return membersOf(value, about, pointer, depth + 1)
  const folders = Array.isArray(value) ? foldersOf(value, name) : undefined
  if (folders) return [[`${pointer}/*`, { within: folders }]]
  return [[pointer, testOf(value, about, name)]]
}

function testOf(value: unknown, { schema, tier }: ProposeOptions, name: string): ArgumentTest {
  if (isListed(schema)) return { eq: value }
  if (typeof value === 'number') return value >= 0 ? { min: 0, max: value } : { eq: value }
  if (typeof value !== 'string') return { eq: value }
  const url = webAddress(value)
  // Always with the port: a host without a port would match every port.
  if (url) return { hostIn: [`${url.hostname}:${effectivePort(url)}`], glob: `${url.protocol}//**` }
  const folder = folderOf(value, name)
  if (folder !== undefined) return { within: folder }
  return tier === 'trusted' && isProse(value) && !isCodeName(name) ? { len: { max: roundUp(value.length) } } : { eq: value }
}

const isListed = (schema: unknown): boolean => isObject(schema) && (Array.isArray(schema.enum) || Object.hasOwn(schema, 'const'))

function webAddress(text: string): URL | undefined {
  if (!/^https?:\/\/[^\s\\]+$/.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  // URLs with credentials get no pattern.
  return url.username === '' && url.password === '' ? url : undefined
}

/** The folder of an absolute path, or the path itself if it names a folder. Never a whole disk. */
function folderOf(text: string, name: string): string | undefined {
  const style = posix.isAbsolute(text) && !text.startsWith('//') ? posix : /^[A-Za-z]:[\\/]/.test(text) ? win32 : undefined
  if (!style || /[\0\n\r]/.test(text)) return undefined
  const path = style.normalize(text)
  const folder = IS_FOLDER.test(name) ? path : style.dirname(path)
  // A path of another operating system cannot be used in a rule here.
  return style.dirname(folder) === folder || !isAbsolute(folder) ? undefined : folder
}

/** Undefined unless all entries are paths. */
function foldersOf(list: readonly unknown[], name: string): string[] | undefined {
  const folders = list.map((each) => (typeof each === 'string' ? folderOf(each, name) : undefined))
  return folders.length > 0 && folders.every((folder) => folder !== undefined) ? [...new Set(folders)] : undefined
}

/** Three words or more: text, not a name or an address. */
const isProse = (text: string): boolean => /\S\s+\S+\s+\S/.test(text)

const roundUp = (length: number): number => Math.max(100, 2 ** Math.ceil(Math.log2(length)))

function propertySchema(schema: unknown, name: string): unknown {
  const properties = isObject(schema) ? schema.properties : undefined
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
}
