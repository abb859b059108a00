/** Checks the roots that a client gives to servers. */

import { McpError } from '../protocol/errors.ts'
import type { Root } from '../protocol/model/roots.ts'

/** More roots are a mistake of the program. */
const MAX_ROOTS = 1000

/** Throws ERR_ANSWER_INVALID for a root that is not a plain absolute file URI. */
export function checkRoots(roots: readonly (string | Root)[]): Root[] {
  if (roots.length > MAX_ROOTS) throw new McpError('ERR_LIMIT', `At most ${MAX_ROOTS} roots can be given, not ${roots.length}`)
  return roots.map((root) => checkRoot(typeof root === 'string' ? { uri: root } : root))
}

function checkRoot(root: Root): Root {
  const { uri } = root
  const bad = (reason: string): McpError => new McpError('ERR_ANSWER_INVALID', `Invalid root ${JSON.stringify(uri)}: ${reason}`)
  if (typeof uri !== 'string' || !URL.canParse(uri)) throw bad('expected a file URI')
  const url = new URL(uri)
  if (url.protocol !== 'file:') throw bad(`expected file:, got ${url.protocol}`)
  if (url.search !== '' || url.hash !== '') throw bad('it must not have a query or a fragment')
  // The URL parser resolves "." and "..", so a root with them would name another folder than the one it shows.
  if (/(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i.test(uri.slice('file:'.length)) || /%2f|%5c|%00/i.test(uri))
    throw bad('it must not contain "." or ".." segments or encoded separators')
  return root
}
