/** Where the paths among the arguments really lead: the one thing a decision needs that has to be looked up. */

import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Action } from '../consent/action.ts'
import { parsePointer, select } from '../consent/pointer.ts'

/** What is no path on this machine is left out, and counts as not known. */
export async function realPathsOf(action: Action, pointers: readonly string[]): Promise<Record<string, string>> {
  const paths: Record<string, string> = {}
  for (const pointer of pointers) {
    const [found] = select(action.args, parsePointer(pointer)).found
    const path = typeof found?.value === 'string' ? localPath(found.value) : undefined
    if (path !== undefined) paths[pointer] = await realOrNearest(path)
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

/** What does not exist yet is where its nearest ancestor is. */
async function realOrNearest(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(await realOrNearest(parent), basename(path))
  }
}
