/** Resolves symbolic links in path arguments, because rules about folders apply to the real path. */

import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agreedRealPath } from '../../../files/nearest-real-path.ts'
import type { Action } from '../../model/action.ts'
import { parsePointer, select } from '../../policy/pointer.ts'

/** The real path for each pointer. Values that are not paths on this machine are left out, and rules treat them as unknown. */
export async function realPathsOf(action: Action, pointers: readonly string[]): Promise<Record<string, string>> {
  const paths: Record<string, string> = {}
  for (const pointer of pointers) {
    const [found] = select(action.args, parsePointer(pointer)).found
    const path = typeof found?.value === 'string' ? localPath(found.value) : undefined
    const real = path === undefined ? undefined : await agreedRealPath(path)
    if (real !== undefined) paths[pointer] = real
  }
  return paths
}

/** Undefined if the text is not a local path, or if a server could understand it as a different path. */
function localPath(text: string): string | undefined {
  if (isAbsolute(text)) return IS_READ_DIFFERENTLY.test(text) ? undefined : text
  // Programs disagree about the path of a URI with a query, a fragment, a host or a missing slash.
  const [, written] = FILE_URI.exec(text) ?? []
  if (written === undefined) return undefined
  try {
    const path = IS_WINDOWS ? decodeURIComponent(written).slice(1) : decodeURIComponent(written)
    // `fileURLToPath` removes `..` segments. Apart from that, its result must be the path as written.
    return IS_READ_DIFFERENTLY.test(path) || resolve(fileURLToPath(text)) !== resolve(path) ? undefined : path
  } catch {
    return undefined
  }
}

const IS_WINDOWS = process.platform === 'win32'

const FILE_URI = /^file:\/\/(?:localhost)?(\/[^?#]*)$/i

/** Text that programs understand differently: control characters, spaces and quotes at the end, escaped dots and slashes, backslashes. */
const IS_READ_DIFFERENTLY = IS_WINDOWS
  ? // biome-ignore lint/suspicious/noControlCharactersInRegex: some programs drop these characters
    /[\u0000-\u001f\u007f]|["'\s]$|%(?:2e|2f|5c)/i
  : // biome-ignore lint/suspicious/noControlCharactersInRegex: some programs drop these characters
    /[\u0000-\u001f\u007f\\]|["'\s]$|%(?:2e|2f|5c)/i
