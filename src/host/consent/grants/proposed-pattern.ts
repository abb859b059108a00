/**
 * From the arguments of one call to the arguments of calls like it, for a person who does not want to be asked each time:
 * other files of the folder, other pages of the site. What has no such shape stays as it is, and where there is a secret there is none.
 * A pattern covers what a person reads in it and no more: a port is written out, and words stay these words.
 */

import { isAbsolute, posix, win32 } from 'node:path'
import { isObject } from '../../../base/json.ts'
import { redact } from '../../../base/text/redact.ts'
import { canonicalJson } from '../../../protocol/model/canonical-json.ts'
import { isCodeName } from '../../launch/code-name.ts'
import type { ArgumentRules, ArgumentTest } from '../../model/rule.ts'
import type { TrustTier } from '../../model/server-spec.ts'
import { effectivePort } from '../../policy/argument-test.ts'
import { escapeSegment } from '../../policy/pointer.ts'

type Json = Readonly<Record<string, unknown>>

/** Deeper, wider or longer than this is granted as it is, or not at all. */
const MAX_DEPTH = 4
const MAX_RULES = 64

const IS_FOLDER = /dir|folder|cwd|root|workspace/i

export interface ProposeOptions {
  /** The tool's own, which may say that something is one of a few values. */
  schema?: unknown
  /** Of the server. Words for one that is not trusted stay as they are: it decides itself what it takes them for. Default: untrusted. */
  tier?: TrustTier
}

/** @param args of the call that the person is asked about; they fit the pattern */
export function proposePattern(args: Json, { schema = {}, tier = 'untrusted' }: ProposeOptions = {}): ArgumentRules {
  // A pattern is shown and kept as it is. A call with a secret is granted by its digest, and has none.
  if (canonicalJson(redact(args)) !== canonicalJson(args)) return {}
  const rules = membersOf(args, { schema, tier }, '', 0)
  // Equal arguments are the narrowest pattern there is.
  return rules.length > MAX_RULES ? { '': { eq: args } } : Object.fromEntries(rules)
}

type Entry = [pointer: string, test: ArgumentTest]

function membersOf(object: Json, { schema, tier }: ProposeOptions, pointer: string, depth: number): Entry[] {
  const names = Object.keys(object)
  // `*` as a name cannot be written in a pattern without meaning every name.
  if (names.length === 0 || names.includes('*')) return [[pointer, { eq: object }]]
  const members = names.flatMap((name) =>
    entriesOf(object[name], { schema: propertySchema(schema, name), tier }, `${pointer}/${escapeSegment(name)}`, name, depth),
  )
  // Arguments that a pattern is silent about do not fit it. Inside of one that must be said.
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
  // With its port, also the usual one: a host without a port would mean every port.
  if (url) return { hostIn: [`${url.hostname}:${effectivePort(url)}`], glob: `${url.protocol}//**` }
  const folder = folderOf(value, name)
  if (folder !== undefined) return { within: folder }
  return tier === 'trusted' && isProse(value) && !isCodeName(name) ? { len: { max: roundUp(value.length) } } : { eq: value }
}

const isListed = (schema: unknown): boolean => isObject(schema) && (Array.isArray(schema.enum) || Object.hasOwn(schema, 'const'))

function webAddress(text: string): URL | undefined {
  if (!/^https?:\/\/[^\s\\]+$/.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  // One that needs another look is not the base of a pattern.
  return url.username === '' && url.password === '' ? url : undefined
}

/** The folder that an absolute path is in; a path that is one itself stays. Never a whole disk. */
function folderOf(text: string, name: string): string | undefined {
  const style = posix.isAbsolute(text) && !text.startsWith('//') ? posix : /^[A-Za-z]:[\\/]/.test(text) ? win32 : undefined
  if (!style || /[\0\n\r]/.test(text)) return undefined
  const path = style.normalize(text)
  const folder = IS_FOLDER.test(name) ? path : style.dirname(path)
  // A path of another system leads nowhere here, and no rule could be made of it.
  return style.dirname(folder) === folder || !isAbsolute(folder) ? undefined : folder
}

/** Undefined unless all of a list are paths. */
function foldersOf(list: readonly unknown[], name: string): string[] | undefined {
  const folders = list.map((each) => (typeof each === 'string' ? folderOf(each, name) : undefined))
  return folders.length > 0 && folders.every((folder) => folder !== undefined) ? [...new Set(folders)] : undefined
}

/** Several words, rather than a name or an address of something. */
const isProse = (text: string): boolean => /\S\s+\S+\s+\S/.test(text)

const roundUp = (length: number): number => Math.max(100, 2 ** Math.ceil(Math.log2(length)))

function propertySchema(schema: unknown, name: string): unknown {
  const properties = isObject(schema) ? schema.properties : undefined
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
}
