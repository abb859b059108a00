/**
 * One file or resource can be written in many ways: `/repo/.env`, `/repo/.env/`, `/repo/./.env`, `file:///repo/%2eenv`. A
 * rule that forbids must catch all of them; one that allows must not be led elsewhere by any.
 */

import { posix } from 'node:path'
import { compileGlob, type TextTest } from './glob.ts'

/** Nothing but a tidy path or name, which can be read in one way only. */
const NEEDS_A_LOOK = /[\\%]|\/\/|\/$|(?:^|\/)\.{1,2}(?:\/|$)|[?#]/

/** Other ways to write what the text may stand for: tidied up, and with escapes resolved. */
export function readingsOf(text: string): string[] {
  if (!NEEDS_A_LOOK.test(text)) return []
  const decoded = decode(text)
  const readings = new Set([text, decoded].flatMap((each) => [tidy(each), tidy(each.replaceAll('\\', '/'))]))
  readings.delete(text)
  return [...readings]
}

/** The pattern of a rule that forbids or asks: it holds if any way to write the text fits. */
export function wideGlob(pattern: string): TextTest {
  const tests = [compileGlob(pattern)]
  // `**/.env` means a file of that name anywhere, so also without a folder in front.
  if (pattern.startsWith('**/')) tests.push(compileGlob(pattern.slice(3)))
  const test = (text: string): boolean => tests.some((each) => each(text))
  return (text) => test(text) || readingsOf(text).some(test)
}

/** The pattern of a rule that allows: where the text steps through folders, it must fit as the place it leads to as well. */
export function narrowGlob(pattern: string): TextTest {
  const test = compileGlob(pattern)
  return (text) => test(text) && (!stepsAround(text) || readingsOf(text).every(test))
}

/** It has steps that others take back before they look. */
export const stepsAround = (text: string): boolean => /(?:^|[/\\])\.{1,2}(?:[/\\]|$)/.test(decode(text)) || /%(?:2f|5c|00)/i.test(text)

function decode(text: string): string {
  if (!text.includes('%')) return text
  // Each escape by itself: one that is none is no reason to leave the others.
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}

const URI = /^([a-z][a-z\d+.-]*:\/\/[^/?#]*)([^?#]*)(.*)$/is

/** Without empty and single dots, without steps back, and without a slash at the end. */
function tidy(text: string): string {
  const [, place, path, rest = ''] = URI.exec(text) ?? []
  if (place === undefined || path === undefined) return trimmed(posix.normalize(text))
  // A query or a fragment of a file is nothing to most who open it.
  return `${place}${path === '' ? '' : trimmed(posix.normalize(path))}${/^file:/i.test(place) ? '' : rest}`
}

const trimmed = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)
