/**
 * One file or resource can be written in many ways: `/repo/.env`, `/repo/.env/`, `/repo/./.env`, `file:///repo/%2eenv`. A rule that
 * forbids must match all of these spellings; a rule that allows must not match a spelling of something else.
 */

import { posix } from 'node:path'
import { compileGlob, type TextTest } from './glob.ts'

/** Matches texts that may have other spellings. A normalized path or name has none. */
const NEEDS_A_LOOK = /[\\%]|\/\/|\/$|(?:^|\/)\.{1,2}(?:\/|$)|[?#]/

/** Other spellings of a text: normalized, and with escapes decoded. */
export function otherSpellings(text: string): string[] {
  if (!NEEDS_A_LOOK.test(text)) return []
  const decoded = decode(text)
  const readings = new Set([text, decoded].flatMap((each) => [normalizeText(each), normalizeText(each.replaceAll('\\', '/'))]))
  readings.delete(text)
  return [...readings]
}

/** The pattern of a rule that forbids or asks: it matches if any spelling matches. */
export function wideGlob(pattern: string): TextTest {
  const tests = [compileGlob(pattern)]
  // `**/.env` means a file of that name anywhere, also without a folder.
  if (pattern.startsWith('**/')) tests.push(compileGlob(pattern.slice(3)))
  const test = (text: string): boolean => tests.some((each) => each(text))
  return (text) => test(text) || otherSpellings(text).some(test)
}

/** The pattern of a rule that allows: if the text contains `.` or `..` segments, all spellings must match. */
export function narrowGlob(pattern: string): TextTest {
  const test = compileGlob(pattern)
  return (text) => test(text) && (!hasDotSegments(text) || otherSpellings(text).every(test))
}

/** Whether the text has `.` or `..` segments, or escaped separators, which other software may resolve differently. */
export const hasDotSegments = (text: string): boolean => /(?:^|[/\\])\.{1,2}(?:[/\\]|$)/.test(decode(text)) || /%(?:2f|5c|00)/i.test(text)

function decode(text: string): string {
  if (!text.includes('%')) return text
  // Each run of escapes is decoded separately, so that an invalid escape does not affect the others.
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}

const URI = /^([a-z][a-z\d+.-]*:\/\/[^/?#]*)([^?#]*)(.*)$/is

/** Normalizes a path or URI: no `.`, `..` or empty segments, and no slash at the end. */
function normalizeText(text: string): string {
  const [, place, path, rest = ''] = URI.exec(text) ?? []
  if (place === undefined || path === undefined) return trimmed(posix.normalize(text))
  // Most software ignores the query and fragment of a file URI.
  return `${place}${path === '' ? '' : trimmed(posix.normalize(path))}${/^file:/i.test(place) ? '' : rest}`
}

const trimmed = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)
