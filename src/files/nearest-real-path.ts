/** Where a path leads that need not exist yet. */

import { lstat, readlink, realpath, statfs } from 'node:fs/promises'
import { basename, dirname, join, parse, resolve } from 'node:path'

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
 * back; programs that tidy the path up first do not. Undefined where the two differ, and where the path leads each
 * process to its own place, as `/proc/self/cwd` does.
 */
export async function agreedRealPath(path: string): Promise<string | undefined> {
  if (await differsByProcess(path)) return undefined
  const real = await nearestRealPath(path)
  const tidy = resolve(path)
  if (tidy === path || real === undefined) return real
  return (await nearestRealPath(tidy)) === real ? real : undefined
}

/** Names that mean something else to each process. Elsewhere only links on a `proc` file system do. */
const OWN_TO_A_PROCESS = /^\/(?:proc|dev\/(?:fd|stdin|stdout|stderr|tty))(?:\/|$)/i

/** The type that `statfs` gives for `proc`, which may be mounted anywhere. */
const PROC_FILE_SYSTEM = 0x9fa0

/** Takes the path one step at a time, as the system does: where it ends does not show what it went through. */
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
    // A folder that cannot be looked at may be one.
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
