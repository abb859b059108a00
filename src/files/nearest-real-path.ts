/** Where a path leads that need not exist yet. */

import { lstat, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

/** As many as the system follows itself. */
const MAX_LINKS = 40

/**
 * The real path of what is there, or that of the nearest ancestor and the rest. A link to nowhere leads where it says:
 * whoever writes through it writes there. Undefined where it cannot be told.
 */
export async function nearestRealPath(path: string, linksLeft = MAX_LINKS): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isAbsence(error)) return undefined
  }
  const parent = await (dirname(path) === path ? undefined : nearestRealPath(dirname(path), linksLeft))
  if (parent === undefined) return undefined
  const here = join(parent, basename(path))
  const target = await linkTarget(here)
  if (target === undefined) return here
  return linksLeft === 0 ? undefined : nearestRealPath(resolve(parent, target), linksLeft - 1)
}

/**
 * The same, where everybody who opens the path ends up in one place. The system follows a link before it takes a `..`
 * back; programs that tidy the path up first do not. Undefined where the two differ.
 */
export async function agreedRealPath(path: string): Promise<string | undefined> {
  const real = await nearestRealPath(path)
  const tidy = resolve(path)
  if (tidy === path || real === undefined) return real
  return (await nearestRealPath(tidy)) === real ? real : undefined
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined
  } catch {
    return undefined
  }
}

const isAbsence = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
