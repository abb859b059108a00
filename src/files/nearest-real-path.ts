/** Resolves paths that need not exist yet. */

import { lstat, readlink, realpath, statfs } from 'node:fs/promises'
import { basename, dirname, join, parse, resolve } from 'node:path'

/** The limit that Linux itself has. */
const MAX_LINKS = 40

/**
 * The real path, or the real path of the nearest existing ancestor plus the rest. A dangling link counts as its target, because writing
 * through it creates the target. Undefined: it cannot be determined.
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
 * Like `nearestRealPath`, but undefined if different programs would end up in different places: if a `..` after a link makes a
 * difference (the system follows the link first, programs that normalize the path do not), or if the path depends on the process,
 * such as `/proc/self/cwd`.
 */
export async function agreedRealPath(path: string): Promise<string | undefined> {
  if (await differsByProcess(path)) return undefined
  const real = await nearestRealPath(path)
  const tidy = resolve(path)
  if (tidy === path || real === undefined) return real
  return (await nearestRealPath(tidy)) === real ? real : undefined
}

/** Paths that lead to different files in different processes. In other places, only links on a `proc` file system do so. */
const OWN_TO_A_PROCESS = /^\/(?:proc|dev\/(?:fd|stdin|stdout|stderr|tty))(?:\/|$)/i

/** The `statfs` type of `proc`, which may be mounted anywhere. */
const PROC_FILE_SYSTEM = 0x9fa0

/** Walks the path segment by segment, as the system does, because the result does not show which links were passed. */
async function differsByProcess(path: string): Promise<boolean> {
  if (process.platform === 'win32') return false
  let here = parse(path).root
  let linksLeft = MAX_LINKS
  const steps = path.split('/').reverse()
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    const next = join(here, step)
    if (OWN_TO_A_PROCESS.test(next)) return true
    const target = await linkTarget(next)
    if (target === undefined) {
      here = next
      continue
    }
    if (linksLeft-- === 0 || (await isOnProc(here))) return true
    if (target.startsWith('/')) here = '/'
    steps.push(...target.split('/').reverse())
  }
  return false
}

async function isOnProc(folder: string): Promise<boolean> {
  try {
    return (await statfs(folder)).type === PROC_FILE_SYSTEM
  } catch {
    // If in doubt, treat the folder as `proc`.
    return true
  }
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined
  } catch {
    return undefined
  }
}

const isAbsence = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
