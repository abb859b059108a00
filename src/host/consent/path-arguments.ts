/** Finds the arguments that a server may take for paths. */

import { isObject } from '../../base/json.ts'
import { escapeSegment } from '../policy/pointer.ts'

/** Arguments with more texts, or deeper ones, are not examined. */
const MAX_TEXTS = 200
const MAX_DEPTH = 20

const IS_PATH_NAME = /path|file|dir|folder|cwd|root|workspace|location|source|destination/i
const IS_URL = /^(?!file:)[a-z][a-z\d+.-]*:\/\//i
const HAS_PATH_SHAPE = /^(?:[~.\\]|[a-z]:|file:)|[\\/]/i

/** The JSON pointers of texts that may be paths. Undefined: there are too many texts to know. */
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
      for (const [key, each] of Object.entries(value)) visit(each, key, `${pointer}/${escapeSegment(key)}`, depth + 1)
  }
  visit(args, '', '', 0)
  return isWhole && texts <= MAX_TEXTS ? pointers : undefined
}

/** Rather too often than too seldom: the cost is a question. Prose with a slash in it is not a path, unless the name says so. */
const mayBePath = (text: string, name: string): boolean =>
  text !== '' && !IS_URL.test(text) && (IS_PATH_NAME.test(name) || (HAS_PATH_SHAPE.test(text) && !/\w\s+\w/.test(text)))
