/** Verifies the files of a skill against its entry. */

import { isBase64 } from '../base/bytes.ts'
import { isObject } from '../base/json.ts'
import type { Skill, SkillResource } from '../protocol/model/skills.ts'
import { isEqual } from '../protocol/schema/equality.ts'
import { FrontmatterError, readFrontmatter } from './frontmatter.ts'
import { SkillError } from './skill-error.ts'

/** A verified file of a skill. */
export interface SkillFile {
  uri: string
  mimeType: string | undefined
  bytes: Uint8Array<ArrayBuffer>
  /** Undefined if the bytes are not UTF-8. */
  text: string | undefined
}

const encoder = new TextEncoder()

/** Files are kept with their types. A longer one is left out. */
const MAX_TYPE_CHARS = 255

/** The bytes of the one content in the result of `resources/read`. @param maxBytes before they are decoded */
export function contentsOf(uri: string, result: unknown, maxBytes: number): Omit<SkillFile, 'text'> {
  const contents = isObject(result) && Array.isArray(result.contents) ? (result.contents as unknown[]) : []
  const [content] = contents
  if (contents.length !== 1 || !isObject(content) || content.uri !== uri)
    throw new SkillError('contents', uri, `Reading ${uri} did not give the contents of this one file`)
  const mimeType = typeof content.mimeType === 'string' && content.mimeType.length <= MAX_TYPE_CHARS ? content.mimeType : undefined
  const { text, blob } = content
  if (typeof text === 'string') {
    if (text.length > maxBytes) throw tooLong(uri, maxBytes)
    return { uri, mimeType, bytes: encoder.encode(text) }
  }
  if (typeof blob !== 'string' || !isBase64(blob)) throw new SkillError('contents', uri, `Reading ${uri} gave neither text nor base64`)
  if (blob.length > 4 * Math.ceil(maxBytes / 3)) throw tooLong(uri, maxBytes)
  return { uri, mimeType, bytes: Uint8Array.from(atob(blob), (character) => character.charCodeAt(0)) }
}

const tooLong = (uri: string, size: number): SkillError => new SkillError('size', uri, `${uri} has more than ${size} bytes`)

/** @throws SkillError unless the bytes are those that the entry describes */
export async function verifyBytes({ uri, digest, size }: SkillResource, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  if (bytes.length !== size) throw new SkillError('size', uri, `${uri} has ${bytes.length} bytes; its entry says ${size}`)
  const actual = await digestOf(bytes)
  if (actual !== digest) throw new SkillError('digest', uri, `The content of ${uri} is not the one that its entry describes`)
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** @throws SkillError unless SKILL.md begins with the frontmatter of the entry */
export async function verifyFrontmatter({ uri, frontmatter }: Skill, text: string): Promise<void> {
  let actual: Record<string, unknown>
  try {
    actual = await readFrontmatter(text)
  } catch (error) {
    if (!(error instanceof FrontmatterError)) throw error
    throw new SkillError('frontmatter', uri, `${uri}, line ${error.line}: ${error.message}`, error)
  }
  const names = [...new Set([...Object.keys(actual), ...Object.keys(frontmatter)])]
  const other = names.find(
    (name) => !Object.hasOwn(actual, name) || !Object.hasOwn(frontmatter, name) || !isEqual(actual[name], frontmatter[name]),
  )
  if (other !== undefined)
    throw new SkillError('frontmatter', uri, `The frontmatter of ${uri} differs from its entry in ${JSON.stringify(other.slice(0, 100))}`)
}

/** The text of a file, with a byte order mark if it has one; undefined if it is not UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
