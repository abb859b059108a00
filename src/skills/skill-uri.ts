/** The URIs of skills and of their files. */

import { SKILL_FILE } from '../protocol/model/skills.ts'
import { MAX_URI_LENGTH } from '../protocol/uri-template/index.ts'

/** Lower-case letters, digits and single hyphens; 1 to 64 characters. */
const NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/

export const isSkillName = (name: string): boolean => NAME.test(name)

/** In words, for errors. */
export const NAME_RULE = '1 to 64 lower-case letters, digits and single hyphens'

/** Printable ASCII without the characters that RFC 3986 excludes, and without `?` and `#`: a file has neither query nor fragment. */
const CHARACTERS = /^[a-z][a-z0-9+.-]*:\/\/[\w\-.~!$&'()*+,;=:@%/[\]]+$/i

/**
 * What is wrong with the URI of a skill file; undefined if nothing is. Refuses everything that could name another place than it seems
 * to: dot segments, encoded slashes, characters that look like others.
 */
export function uriFault(uri: unknown): string | undefined {
  if (typeof uri !== 'string') return `expected a URI, got ${uri === null ? 'null' : typeof uri}`
  if (uri.length > MAX_URI_LENGTH) return `the URI has more than ${MAX_URI_LENGTH} characters`
  if (!CHARACTERS.test(uri)) return 'expected a URI with a scheme, a path and ASCII characters only'
  for (const segment of segmentsOf(uri)) {
    const plain = decoded(segment)
    if (plain === undefined) return 'the URI has a percent sign that encodes nothing'
    if (plain === '' || plain === '.' || plain === '..') return 'the URI has empty or dot segments'
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused
    if (/[/\\\u0000-\u001f\u007f]/.test(plain)) return 'the URI has encoded slashes or control characters'
  }
  return undefined
}

/** The segments after `scheme://`. */
const segmentsOf = (uri: string): string[] => uri.slice(uri.indexOf('://') + 3).split('/')

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/** The folder of a skill: the URI of its SKILL.md without the file name. */
const rootOf = (skillUri: string): string => skillUri.slice(0, -`/${SKILL_FILE}`.length)

/** The path of a skill within its server, such as `acme/billing/refunds`. */
export const skillPath = (skillUri: string): string => segmentsOf(rootOf(skillUri)).join('/')

/** The path of a file within its skill, such as `references/FORMS.md`. */
export const filePath = (skillUri: string, uri: string): string =>
  segmentsOf(uri)
    .slice(segmentsOf(rootOf(skillUri)).length)
    .map((segment) => decoded(segment) ?? segment)
    .join('/')

/** The URI of a file, from its path within the skill. A whole URI stays as it is. */
export const fileUri = (skillUri: string, path: string): string =>
  path.includes('://') ? path : `${rootOf(skillUri)}/${encodedPath(path)}`

/** A path as part of a URI. */
export const encodedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** Whether a URI is a file in the folder of a skill. */
export const isInSkill = (skillUri: string, uri: string): boolean => uri.startsWith(`${rootOf(skillUri)}/`)

/** The name of a skill as its URI has it. Undefined if it is not the URI of a SKILL.md in a folder. */
export function nameInUri(uri: string): string | undefined {
  const segments = segmentsOf(uri)
  return segments.length >= 2 && segments.at(-1) === SKILL_FILE ? segments.at(-2) : undefined
}
