/** Finds the program that a command names, in the way the system does. */

import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, resolve } from 'node:path'

export interface FoundProgram {
  /** Absolute, as it was found. This is what is started: programs look at the name they are called by. */
  path: string
  /** Where that leads, with every link followed. */
  real: string
}

export interface WhereToLook {
  /** The folder the process will run in: relative entries of the path are relative to it. */
  folder: string
  /** PATH of the process. Undefined: it has none. */
  path: string | undefined
}

const IS_WINDOWS = process.platform === 'win32'
const ENDINGS = IS_WINDOWS ? ['', '.exe', '.cmd', '.bat', '.com'] : ['']

/** What the system takes where a process has no PATH at all. */
const DEFAULT_PATH = IS_WINDOWS ? '' : '/bin:/usr/bin'

/** A backslash is part of a name, except on Windows. */
const isPath = (name: string): boolean => isAbsolute(name) || name.includes('/') || (IS_WINDOWS && name.includes('\\'))

export async function findProgram(name: string, { folder, path = DEFAULT_PATH }: WhereToLook): Promise<FoundProgram | undefined> {
  if (name === '' || name.includes('\0')) return undefined
  // An empty entry is the working folder.
  const folders = isPath(name) ? [folder] : path.split(delimiter).map((entry) => resolve(folder, entry))
  for (const each of folders) {
    for (const ending of ENDINGS) {
      const found = await runnable(resolve(each, `${name}${ending}`))
      if (found) return found
    }
  }
  return undefined
}

async function runnable(path: string): Promise<FoundProgram | undefined> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile() ? { path, real: await realpath(path) } : undefined
  } catch {
    return undefined
  }
}
