/** Finds the program of a command as the operating system would. */

import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, resolve } from 'node:path'

export interface FoundProgram {
  /** The absolute path as found. This path is started, because some programs depend on the name they are called by. */
  path: string
  /** The real path, with all links resolved. */
  real: string
}

export interface WhereToLook {
  /** The working folder of the process. Relative entries of PATH start there. */
  folder: string
  /** PATH of the process. Undefined: not set. */
  path: string | undefined
}

const IS_WINDOWS = process.platform === 'win32'
const ENDINGS = IS_WINDOWS ? ['', '.exe', '.cmd', '.bat', '.com'] : ['']

/** The search path of the system if PATH is not set. */
const DEFAULT_PATH = IS_WINDOWS ? '' : '/bin:/usr/bin'

/** Outside Windows, a backslash is an ordinary character. */
const isPath = (name: string): boolean => isAbsolute(name) || name.includes('/') || (IS_WINDOWS && name.includes('\\'))

export async function findProgram(name: string, { folder, path = DEFAULT_PATH }: WhereToLook): Promise<FoundProgram | undefined> {
  if (name === '' || name.includes('\0')) return undefined
  // An empty entry means the working folder.
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
