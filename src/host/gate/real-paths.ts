/** Where the paths among the arguments really lead: the one thing a decision needs that has to be looked up. */

import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nearestRealPath } from '../../files/nearest-real-path.ts'
import type { Action } from '../consent/action.ts'
import { parsePointer, select } from '../consent/pointer.ts'

/** What is no path on this machine is left out, and counts as not known. */
export async function realPathsOf(action: Action, pointers: readonly string[]): Promise<Record<string, string>> {
  const paths: Record<string, string> = {}
  for (const pointer of pointers) {
    const [found] = select(action.args, parsePointer(pointer)).found
    const path = typeof found?.value === 'string' ? localPath(found.value) : undefined
    const real = path === undefined ? undefined : await nearestRealPath(path)
    if (real !== undefined) paths[pointer] = real
  }
  return paths
}

function localPath(text: string): string | undefined {
  if (isAbsolute(text)) return text
  if (!text.startsWith('file:')) return undefined
  try {
    return fileURLToPath(text)
  } catch {
    return undefined
  }
}
