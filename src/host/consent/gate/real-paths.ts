/** Where the paths among the arguments really lead: the one thing a decision needs that has to be looked up. */

import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agreedRealPath } from '../../../files/nearest-real-path.ts'
import type { Action } from '../../model/action.ts'
import { parsePointer, select } from '../../policy/pointer.ts'

/** What is no path on this machine is left out, and counts as not known. */
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

/** Undefined for what is no path here, and for what servers may read as another path than we do. */
function localPath(text: string): string | undefined {
  if (isAbsolute(text)) return IS_READ_DIFFERENTLY.test(text) ? undefined : text
  // With a query or a fragment, another machine or a missing slash, readers of URIs disagree about the path.
  const [, written] = FILE_URI.exec(text) ?? []
  if (written === undefined) return undefined
  try {
    const path = IS_WINDOWS ? decodeURIComponent(written).slice(1) : decodeURIComponent(written)
    // The reader of the standard takes `..` back by the letters; what it makes of the rest must be what is written.
    return IS_READ_DIFFERENTLY.test(path) || resolve(fileURLToPath(text)) !== resolve(path) ? undefined : path
  } catch {
    return undefined
  }
}

const IS_WINDOWS = process.platform === 'win32'

const FILE_URI = /^file:\/\/(?:localhost)?(\/[^?#]*)$/i

/** Control characters, spaces and quotes at the end, which some drop; escapes of dots and slashes; slashes of another system. */
const IS_READ_DIFFERENTLY = IS_WINDOWS
  ? // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what readers drop or keep
    /[\u0000-\u001f\u007f]|["'\s]$|%(?:2e|2f|5c)/i
  : // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what readers drop or keep
    /[\u0000-\u001f\u007f\\]|["'\s]$|%(?:2e|2f|5c)/i
