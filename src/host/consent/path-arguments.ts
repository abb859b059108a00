/** Finds the arguments that a server may take for paths. */

import { isObject } from '../../base/json.ts'
import { escapeSegment } from '../policy/pointer.ts'

/** Arguments with more texts, or deeper ones, are not examined. */
const MAX_TEXTS = 200
const MAX_DEPTH = 20

const IS_PATH_NAME =
  /path|file|dir|folder|cwd|root|workspace|location|source|destination|uri|src|target|doc|repo(?!rt)|database|image|glob/i
/** `db` occurs in too many other words, so it must stand apart in the name. */
const IS_DATABASE_NAME = /^(?:db|DB)(?![a-z])|[_-](?:db|DB)(?![a-z])|[a-z]D[bB](?![a-z])/

/** Only these are addresses of the network for every server. A server may read any other scheme as a path. */
const IS_URL = /^(?:https?|wss?):\/\//i

/** The beginning of a path: `/x`, `~`, `./x`, `\x`, `C:x`, `file:x`, `scheme:/x`. */
const STARTS_AS_PATH = /^(?:[/~\\.]|[a-z]:|(?:[a-z][a-z\d+.-]*:)?file:|[a-z][a-z\d+.-]*:[\\/~.])/i
const HAS_PARENT = /(?:^|[\\/:])\.\.(?:$|[\\/])/
/** `$HOME`, `${HOME}`, `%USERPROFILE%`. */
const HAS_VARIABLE = /\$\{?[a-z_]|%[a-z_]\w*%/i
const IS_PROSE = /\w\s+\w/

/** The JSON pointers of texts that may be paths. Undefined: there are too many texts to know, or a name is a path itself. */
export function pathArguments(args: Readonly<Record<string, unknown>>): string[] | undefined {
  const pointers: string[] = []
  let texts = 0
  let isWhole = true
  const visit = (value: unknown, name: string, pointer: string, depth: number): void => {
    if (depth > MAX_DEPTH || texts > MAX_TEXTS) isWhole = false
    else if (typeof value === 'string') {
      texts++
      if (mayBePath(value, name)) pointers.push(pointer)
    } else if (Array.isArray(value)) for (const [at, each] of value.entries()) visit(each, name, `${pointer}/${at}`, depth + 1)
    else if (isObject(value))
      for (const [key, each] of Object.entries(value)) {
        // Real paths are looked up for values only.
        if (mayBePath(key, '') && !IS_OPERATOR.test(key)) isWhole = false
        visit(each, key, `${pointer}/${escapeSegment(key)}`, depth + 1)
      }
  }
  visit(args, '', '', 0)
  return isWhole && texts <= MAX_TEXTS ? pointers : undefined
}

/** Names such as `$filter` and `$gt` are common in queries. */
const IS_OPERATOR = /^\$[a-z]+(?:[A-Z][a-z]+)*$/

/**
 * Says yes rather too often than too seldom: a wrong yes only costs a question. Prose with a slash in it is not a path, unless the name
 * says so.
 */
function mayBePath(text: string, name: string): boolean {
  if (text === '') return false
  return IS_PATH_NAME.test(name) || IS_DATABASE_NAME.test(name) || readings(text).some(hasPathShape)
}

function hasPathShape(text: string): boolean {
  if (HAS_PARENT.test(text)) return true
  if (IS_URL.test(text)) return !URL.canParse(text)
  return STARTS_AS_PATH.test(text) || HAS_VARIABLE.test(text) || (/[\\/]/.test(text) && !IS_PROSE.test(text))
}

/** A server may decode a text once or twice before it uses it. */
const MAX_DECODINGS = 3

/** The text as written and as a server may read it: decoded, and without blanks and quotes at its beginning. */
function readings(text: string): string[] {
  const found = [text]
  for (let last = text; found.length <= MAX_DECODINGS; ) {
    const next = decoded(last)
    if (next === last) break
    found.push(next)
    last = next
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: some programs drop these characters
  return found.map((each) => each.replace(/^[\s\u0000-\u001f"'`<(]+/, ''))
}

/** Escapes that are not valid stay as they are, and the others are decoded all the same. */
const decoded = (text: string): string =>
  text.replace(/(?:%[\da-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes.replace(/%([0-7][\da-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    }
  })
