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

/** Parts of a longer text: words, quoted texts, the arguments of a call, the value of an option. */
const BETWEEN_PARTS = /[\s"'`()[\]{}=,;|&>]+/
/** The beginning of a path within a longer text: `/x`, `~/x`, `C:/x`, `\\\\host`, `file:x`, `scheme:/x`. */
const PART_STARTS_AS_PATH = /^(?:\/[^\s/]|~[\w.-]*[\\/]|[a-z]:[\\/]|\\\\\w|(?:[a-z][a-z\d+.-]*:)?file:|[a-z][a-z\d+.-]*:[\\/])/i
/** `tax/2026.pdf`, `.ssh/key`, `a/b/c`. Not `and/or` or `2026/08/31`. */
const PART_IS_RELATIVE_PATH = /[\\/][^\\/]*\.[a-z\d]{1,8}$|(?:^|[\\/])\.\w[^\\/]*[\\/]|^(?=.*[a-z]).*[\\/].*[\\/]/i

/** A program runs these texts, and can build any path in them. */
const IS_COMMAND_NAME =
  /(?:^|[_-])(?:command|cmd|script|shell|eval|exec|program)s?(?![a-z])|[a-z](?:Command|Cmd|Script|Shell|Program)s?(?![a-z])/i
const IS_QUERY_NAME = /sql|query|code|expression|regex/i
/** A call, a statement or a block. Words for a search have none of them. */
const HAS_CODE = /\w\(|[`\\;{}]/

/**
 * The JSON pointers of texts that may be paths. Undefined: the paths are not known, because there are too many texts, a name is a path
 * itself, a text is code, or a longer text contains a path.
 */
export function pathArguments(args: Readonly<Record<string, unknown>>): string[] | undefined {
  const pointers: string[] = []
  let texts = 0
  let isWhole = true
  /** @param isOfPath the name of the value, or of an object around it, is that of a path */
  const visit = (value: unknown, name: string, isOfPath: boolean, pointer: string, depth: number): void => {
    if (depth > MAX_DEPTH || texts > MAX_TEXTS) isWhole = false
    else if (typeof value === 'string') {
      texts++
      if (isCode(value, name) || readings(value).some(hasInnerPath)) isWhole = false
      if (value !== '' && (isOfPath || mayBePath(value))) pointers.push(pointer)
    } else if (Array.isArray(value)) for (const [at, each] of value.entries()) visit(each, name, isOfPath, `${pointer}/${at}`, depth + 1)
    else if (isObject(value))
      for (const [key, each] of Object.entries(value)) {
        // Real paths are looked up for values only.
        if (mayBePath(key) && !IS_OPERATOR.test(key)) isWhole = false
        visit(each, key, isOfPath || isPathName(key), `${pointer}/${escapeSegment(key)}`, depth + 1)
      }
  }
  visit(args, '', false, '', 0)
  return isWhole && texts <= MAX_TEXTS ? pointers : undefined
}

/** Names such as `$filter` and `$gt` are common in queries. */
const IS_OPERATOR = /^\$[a-z]+(?:[A-Z][a-z]+)*$/

const isPathName = (name: string): boolean => IS_PATH_NAME.test(name) || IS_DATABASE_NAME.test(name)

const isCode = (text: string, name: string): boolean =>
  text !== '' && (IS_COMMAND_NAME.test(name) || (IS_QUERY_NAME.test(name) && HAS_CODE.test(text)))

/** Says yes rather too often than too seldom: a wrong yes only costs a question. Prose with a slash in it is not a path. */
const mayBePath = (text: string): boolean => text !== '' && readings(text).some(hasPathShape)

function hasPathShape(text: string): boolean {
  if (HAS_PARENT.test(text)) return true
  if (IS_URL.test(text)) return !URL.canParse(text)
  if (STARTS_AS_PATH.test(text) || HAS_VARIABLE.test(text)) return true
  if (!IS_PROSE.test(text)) return /[\\/]/.test(text)
  return text.split(BETWEEN_PARTS).some((part) => !IS_URL.test(part) && PART_IS_RELATIVE_PATH.test(part))
}

/** Whether a path stands behind other words. The real path of the whole text would say nothing about it. */
const hasInnerPath = (text: string): boolean =>
  text
    .split(BETWEEN_PARTS)
    .slice(1)
    .some((part) => PART_STARTS_AS_PATH.test(part) && !(IS_URL.test(part) && URL.canParse(part)))

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
